import { OPERATIONS } from '../../../sdk/src/generated/operations.ts';

export interface NamedOperation {
  id: string;
  /** `GET /v1/products`. */
  call: string;
  /** `products.list`. */
  sdkName: string;
}

/** Operations of the API, from the table that the SDK is generated with. */
function readOperations(): NamedOperation[] {
  let resource = '';
  return OPERATIONS.trim()
    .split('\n')
    .flatMap((line) => {
      const [id = '', name, method, path] = line.split(' ');
      if (path) return [{ id, call: `${method} ${path}`, sdkName: `${resource}.${name}` }];
      resource = id.replace(/:$/, '');
      return [];
    });
}
const ALL = readOperations();

const shapeOf = (call: string): string => call.replace(/\{[^}]*\}|\$\w+|<[^>]*>/g, '{}').replace(/[?#].*$/, '');
const patternOf = (call: string): RegExp => new RegExp(`^${shapeOf(call).replaceAll('{}', '[^/]+')}$`);

const byShape = new Map(ALL.map((operation) => [shapeOf(operation.call), operation]));
const bySdkName = new Map(ALL.map((operation) => [operation.sdkName, operation]));
const patterns = ALL.map((operation) => ({ operation, pattern: patternOf(operation.call) }));

/** Operation of a call, in which values may fill the path: `PUT /v1/access/rail-settings/solana_usdc`. */
function operationOf(call: string): NamedOperation | undefined {
  const shape = shapeOf(call);
  return byShape.get(shape) ?? patterns.find(({ pattern }) => pattern.test(shape))?.operation;
}

const NAMED = /\b(GET|POST|PUT|PATCH|DELETE) (\/[^\s`,)]*)/g;
const COMMAND = /\b(?:api|curl)\b[^\n]*?(?:\$BASE|example\.com)(\/v1\/[^\s"'`)]*)((?:(?!\b(?:api|curl)\b|\n\n|```)[\s\S])*)/g;
const SDK_CALL = /\b([a-z]\w*\.[a-z]\w*)\(/g;

/** Method of a curl command, from its options. */
const methodOf = (command: string): string => /-X (\w+)/.exec(command)?.[1] ?? (/ -d /.test(command) ? 'POST' : 'GET');

/** Operations that a page names: in its text, in its commands or by a method of the SDK. In the order of their first mention. */
export function operationsNamedIn(markdown: string): NamedOperation[] {
  const found = [
    ...[...markdown.matchAll(NAMED)].map(({ index, 1: method, 2: path }) => ({ index, operation: operationOf(`${method} ${path}`) })),
    ...[...markdown.matchAll(COMMAND)].map(({ index, 0: command, 1: path }) => ({
      index,
      operation: operationOf(`${methodOf(command)} ${path}`),
    })),
    ...[...markdown.matchAll(SDK_CALL)].map(({ index, 1: name }) => ({ index, operation: bySdkName.get(name!) })),
  ].toSorted((a, b) => a.index - b.index);
  return [...new Set(found.flatMap(({ operation }) => (operation ? [operation] : [])))];
}

export const OPERATIONS_ID = 'operations-of-the-api';

/** Last section of a page: each operation with its link to the reference. */
export function operationsSection(operations: NamedOperation[], linkTo: (operation: NamedOperation) => string): string {
  if (operations.length === 0) return '';
  const lines = operations.map((operation) => `- [\`${operation.call}\`](${linkTo(operation)})`);
  return `\n## Operations of the API\n\n${lines.join('\n')}\n`;
}
