// Loaded into each service that a test starts: ends the service with the process that started it, even if that was killed.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
