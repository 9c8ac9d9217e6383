// The snippets of client/README.md as one program.

export function programOf(readme: string, origin: string): string {
  const snippets = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, snippet]) => snippet)
  return snippets.join('\n').replaceAll('http://127.0.0.1:3000', origin)
}
