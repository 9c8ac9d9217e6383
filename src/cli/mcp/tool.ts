// What a tool for assistants declares.
import type { Static, TObject } from 'typebox'
import type { CallOptions, Petstore } from '../../../client/src/petstore.ts'
import type { Scope } from '../../contract/scopes.ts'

/** What a tool can use. */
export interface ToolContext {
  store: Petstore
  /** The scopes of the API key. */
  scopes: ReadonlySet<string>
  /** Pass these options to every call, so that the call ends if the assistant cancels it. */
  call: CallOptions
}

/** What a tool does to the data. */
export type Effect =
  | 'reads'
  /** Each call adds something. Two equal calls are two actions. */
  | 'adds'
  /** Replaces or ends something. A second, equal call changes nothing more. */
  | 'replaces'

export interface Tool<Input extends TObject = TObject> {
  name: string
  title: string
  /** Tells an assistant when to use this tool, and which tool comes next. */
  description: string
  /** The API key must have all of them. */
  scopes: readonly Scope[]
  effect: Effect
  input: Input
  output: TObject
  /** A field of the result has the name of the argument that accepts it, such as `petId`. */
  run: (input: Static<Input>, context: ToolContext) => Promise<object>
}

/** Derives the type of the arguments from their schema. */
export function defineTool<Input extends TObject>(tool: Tool<Input>): Tool {
  return tool
}
