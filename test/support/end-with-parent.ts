// Loaded into each service that a test starts. Ends the service when the test process ends, even if that is killed.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// The listener must not keep a service running that could not start.
process.channel?.unref()
