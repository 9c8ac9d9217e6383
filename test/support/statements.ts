// The functions of src that send an SQL statement, as the TypeScript compiler sees them: the literal names of their
// statements, and the columns of their row types. Runs nothing.
import { join, relative, resolve } from 'node:path'
import {
  type CallExpression,
  type FunctionDeclaration,
  type Node,
  type ObjectLiteralExpression,
  SyntaxKind,
} from 'typescript/unstable/ast'
import {
  isCallExpression,
  isFunctionDeclaration,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
  isStringLiteral,
} from 'typescript/unstable/ast/is'
import { API, type Checker, type Type, TypeFlags, type TypeReference } from 'typescript/unstable/sync'

const ROOT = resolve(import.meta.dirname, '../..')

export interface StatementFunction {
  file: string
  name: string
  isExported: boolean
  /** The exported functions of the file that call this one. */
  callers: string[]
  /** How many statements the function sends with `read` or `write`. */
  sends: number
  /** The names of its statements that are literals. */
  statements: string[]
  /** Whether a statement says why it cannot read many rows. */
  isBounded: boolean
  /** The properties of the row type and their types, such as `bigint`; undefined if the function reads no column. */
  columns: Record<string, string> | undefined
}

/** The name that a statement of the function must have. Variants add `_by_` and the filters. */
export function statementName(functionName: string): string {
  return functionName.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function isNameOf(statement: string, functionName: string): boolean {
  const name = statementName(functionName)
  return statement.replace(/_including$/, '') === name || statement.startsWith(`${name}_by_`)
}

let found: readonly StatementFunction[] | undefined

export function statementFunctions(): readonly StatementFunction[] {
  found ??= readStatementFunctions()
  return found
}

function readStatementFunctions(): StatementFunction[] {
  const api = new API({ cwd: ROOT })
  try {
    const config = join(ROOT, 'tsconfig.json')
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (project === undefined) throw new Error('tsconfig.json could not be read')
    const { program, checker } = project
    return program
      .getSourceFileNames()
      .filter((name) => name.startsWith(join(ROOT, 'src/')))
      .flatMap((name) => {
        const file = program.getSourceFile(name)
        return file === undefined ? [] : functionsIn(file, relative(ROOT, name), checker)
      })
  } finally {
    api.close()
  }
}

function functionsIn(source: Node, file: string, checker: Checker): StatementFunction[] {
  const functions = new Map<FunctionDeclaration, StatementFunction>()
  const exported: FunctionDeclaration[] = []

  function entryOf(node: FunctionDeclaration): StatementFunction {
    const entry = functions.get(node) ?? {
      file,
      name: node.name?.text ?? '',
      isExported: exported.includes(node),
      callers: [],
      sends: 0,
      statements: [],
      isBounded: false,
      columns: undefined,
    }
    functions.set(node, entry)
    return entry
  }

  function visit(node: Node, around: FunctionDeclaration | undefined): void {
    const inside = isFunctionDeclaration(node) ? node : around
    if (isFunctionDeclaration(node) && isExported(node)) exported.push(node)
    if (inside !== undefined && isCallExpression(node)) {
      const row = rowTypeOf(node, checker)
      if (row !== undefined) {
        const entry = entryOf(inside)
        entry.sends += 1
        const isUsed = (row.flags & TypeFlags.Unknown) === 0
        entry.columns = isUsed ? columnsOf(row, checker) : undefined
      }
    }
    if (inside !== undefined && isObjectLiteralExpression(node)) {
      const statement = statementLiteral(node)
      if (statement !== undefined) {
        const entry = entryOf(inside)
        entry.statements.push(...statement.names)
        entry.isBounded ||= statement.isBounded
      }
    }
    node.forEachChild((child) => visit(child, inside))
  }

  visit(source, undefined)
  for (const entry of functions.values()) {
    const calls = new RegExp(String.raw`\b${entry.name}\(`)
    const callers = exported.filter((node) => node.name?.text !== entry.name && calls.test(node.getText()))
    entry.callers = callers.map((node) => node.name?.text ?? '')
  }
  return [...functions.values()].filter(({ sends, statements }) => sends > 0 || statements.length > 0)
}

function isExported({ modifiers }: FunctionDeclaration): boolean {
  return modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) ?? false
}

/** The type of the rows if the call is `read` or `write` of a Reader or a Writer. */
function rowTypeOf(call: CallExpression, checker: Checker): Type | undefined {
  const { expression } = call
  if (!isPropertyAccessExpression(expression) || !/^(?:read|write)$/.test(expression.name.text))
    return undefined
  const signature = checker.getResolvedSignature(call)
  const parameter = signature && checker.getParameterType(signature, 0)
  if (parameter === undefined || checker.typeToString(parameter) !== 'Statement') return undefined
  // Promise<Row[]>
  const promise = checker.getReturnTypeOfSignature(
    signature as NonNullable<typeof signature>,
  ) as TypeReference
  const [rows] = checker.getTypeArguments(promise)
  const [row] = checker.getTypeArguments(rows as TypeReference)
  return row
}

const PRIMITIVES: [flag: TypeFlags, name: string][] = [
  [TypeFlags.BigIntLike, 'bigint'],
  [TypeFlags.NumberLike, 'number'],
  [TypeFlags.BooleanLike, 'boolean'],
  [TypeFlags.StringLike, 'string'],
]

function columnsOf(row: Type, checker: Checker): Record<string, string> {
  return Object.fromEntries(
    checker.getPropertiesOfType(row).map((property) => {
      const type = checker.getTypeOfSymbol(property)
      return [property.name, type === undefined ? '' : nameOf(type, checker)]
    }),
  )
}

/** `bigint`, `number`, `boolean`, `string`, `array` or the name of a class. Ignores null and undefined. */
function nameOf(type: Type, checker: Checker): string {
  if (type.isUnionType()) {
    const parts = type.getTypes().filter(({ flags }) => (flags & TypeFlags.Nullable) === 0)
    return [...new Set(parts.map((part) => nameOf(part, checker)))].join(' | ')
  }
  const primitive = PRIMITIVES.find(([flag]) => (type.flags & flag) !== 0)
  if (primitive !== undefined) return primitive[1]
  return checker.isArrayType(type) ? 'array' : (type.getSymbol()?.name ?? '')
}

/** The object as a statement, if it is one. Without a name if that is not a literal. */
function statementLiteral(
  node: ObjectLiteralExpression,
): { names: string[]; isBounded: boolean } | undefined {
  const properties = new Map<string, Node>()
  for (const property of node.properties) {
    if (isPropertyAssignment(property)) properties.set(property.name.getText(), property.initializer)
    if (isShorthandPropertyAssignment(property)) properties.set(property.name.getText(), property)
  }
  if (!['name', 'text', 'values'].every((name) => properties.has(name))) return undefined
  const name = properties.get('name') as Node
  return { names: isStringLiteral(name) ? [name.text] : [], isBounded: properties.has('bounded') }
}
