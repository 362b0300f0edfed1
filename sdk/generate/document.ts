/** OpenAPI 3.1 document, as far as the generator reads it. */
export interface Document {
  info: { version: string };
  paths: Record<string, Record<string, PathOperation>>;
  webhooks?: Record<string, { post: { description?: string; requestBody: { content: Content } } }>;
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter> };
  'x-error-codes': Record<string, { status: number; message: string }>;
}
type Content = Record<string, { schema?: Schema }>;

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface PathOperation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
  /** `resource.method` of the client. */
  'x-sdk'?: string | false;
  'x-idempotency'?: Idempotency;
  'x-pages'?: 'page' | 'after';
}

export type Idempotency = 'required' | 'honoured' | 'natural' | 'none';

/** Operation of the document as a method of the client. */
export interface Operation {
  id: string;
  resource: string;
  method: string;
  verb: string;
  path: string;
  summary: string;
  description: string;
  params: Parameter[];
  /** Query parameters without `mode`, which is an option of every call. */
  query: Parameter[];
  hasMode: boolean;
  /** True if the caller sends a buyer's credential instead of the client's. */
  hasAuthorization: boolean;
  body: { schema: Schema; isRequired: boolean } | null;
  idempotency: Idempotency | null;
  pages: 'page' | 'after' | null;
  /** Schemas of the successful answers. Empty for 204. */
  answers: Schema[];
  isBytes: boolean;
}

const IDEMPOTENCY = ['required', 'honoured', 'natural', 'none'];

export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Reads the operations that clients call. Throws for an operation that does not name its method or, as a write, its idempotency. */
export function readOperations(document: Document): Operation[] {
  const found: Operation[] = [];
  for (const [path, verbs] of Object.entries(document.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const sdk = operation['x-sdk'];
      if (sdk === undefined) throw new Error(`${operation.operationId} has no x-sdk: name resource and method, or false`);
      if (sdk !== false) found.push(toOperation(document, verb.toUpperCase(), path, operation, sdk));
    }
  }
  const names = found.map(({ resource, method }) => `${resource}.${method}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`Two operations are ${twice}`);
  return found;
}

function toOperation(document: Document, verb: string, path: string, operation: PathOperation, sdk: string): Operation {
  const [resource = '', method = ''] = sdk.split('.');
  const { operationId: id, requestBody, summary = '', description = '' } = operation;
  const parameters = (operation.parameters ?? []).map((one) => (one.$ref ? document.components.parameters![nameIn(one.$ref)]! : one));
  const query = parameters.filter((one) => one.in === 'query');
  const body = requestBody?.content['application/json']?.schema;
  if (requestBody && !body) throw new Error(`${id} has a body that is no JSON`);
  const idempotency = operation['x-idempotency'] ?? null;
  if (verb !== 'GET' && !IDEMPOTENCY.includes(idempotency ?? '')) throw new Error(`${id} writes and has no x-idempotency`);
  const succeeded = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const contents = succeeded.flatMap(([, { content }]) => (content ? [content] : []));
  const isBytes = contents.some((content) => !content['application/json']);
  return {
    id,
    resource,
    method,
    verb,
    path,
    summary,
    description,
    params: orderedAs(path, parameters),
    query: query.filter((one) => !isAccountMode(one)),
    hasMode: query.some(isAccountMode),
    hasAuthorization: parameters.some((one) => one.in === 'header' && one.name.toLowerCase() === 'authorization'),
    body: body ? { schema: body, isRequired: requestBody?.required === true } : null,
    idempotency,
    pages: operation['x-pages'] ?? null,
    answers: isBytes ? [] : contents.map((content) => content['application/json']!.schema!),
    isBytes,
  };
}

/** Other parameters may have the same name: OAuth names the purpose of a sign-in by it. */
const isAccountMode = ({ name, schema }: Parameter): boolean => name === 'mode' && (schema.enum ?? []).includes('sandbox');

function orderedAs(path: string, parameters: Parameter[]): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    if (!parameter) throw new Error(`${path} does not describe ${name}`);
    return parameter;
  });
}
