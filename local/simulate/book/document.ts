import { validate as check, dereference, initialBaseURI, type Schema } from '@cfworker/json-schema';

type Node = { $ref?: string };
type Known = Record<string, Schema | boolean>;

interface ErrorSchema {
  allOf?: { properties?: { code?: { enum: string[] } } }[];
  anyOf?: ErrorSchema[];
}
interface Response {
  content?: Record<string, { schema: object }>;
}
interface Operation {
  responses: Record<string, Response>;
}
interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
  'x-error-codes': Record<string, { status: number }>;
}
interface Route {
  template: string;
  operations: Record<string, Operation>;
  pattern: RegExp;
  params: number;
}

const DOCUMENTS = new WeakMap<object, PublishedDocument>();

/** Returns the checker of a document, made once for all histories. */
export function readPublished(document: object): PublishedDocument {
  const known = DOCUMENTS.get(document) ?? new PublishedDocument(document as OpenApi);
  DOCUMENTS.set(document, known);
  return known;
}

export class PublishedDocument {
  readonly #document: OpenApi;
  readonly #routes: Route[];
  readonly #components: Known;
  readonly #known = new Map<object, Known>();

  constructor(document: OpenApi) {
    this.#document = document;
    this.#components = dereference({ components: document.components } as Schema);
    this.#routes = Object.entries(document.paths)
      .map(([template, operations]) => ({
        template,
        operations,
        pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
        params: template.split('{').length - 1,
      }))
      .sort((a, b) => a.params - b.params);
  }

  /** Returns how an answer differs from the document: an undocumented status, a body outside its schema, an unlisted error code. */
  check(method: string, path: string, status: number, body: unknown): string[] {
    const found = this.#findOperation(method, path);
    if (found === null) return [`${method} ${path} is not in the document`];
    const name = `${method} ${found.template}`;
    const response = this.#follow(found.operation.responses[status]);
    if (response === undefined) return [`${name} answered ${status}, which the document does not name: ${JSON.stringify(body)}`];
    const schema = response.content?.['application/json']?.schema;
    if (schema === undefined) return [];
    const problems = this.#validate(schema, body).map((problem) => `${name} ${status}: ${problem}`);
    return status < 400 ? problems : [...problems, ...this.#checkCode(name, status, schema, body)];
  }

  #checkCode(name: string, status: number, schema: object, body: unknown): string[] {
    const code = (body as { code?: string } | null)?.code ?? '';
    if (!codesIn(schema as ErrorSchema).includes(code)) return [`${name} answered ${status} ${code}, which the document does not name`];
    const statuses = code === 'invalid_authorization' ? [401, 403] : [this.#document['x-error-codes'][code]?.status];
    return statuses.includes(status) ? [] : [`${name} answered ${code} with ${status}`];
  }

  #findOperation(method: string, path: string): { template: string; operation: Operation } | null {
    const verb = method.toLowerCase();
    const isLiteral = path in this.#document.paths;
    const found = this.#routes.find(({ template, operations, pattern }) =>
      isLiteral ? template === path && operations[verb] : operations[verb] && pattern.test(path),
    );
    return found === undefined ? null : { template: found.template, operation: found.operations[verb]! };
  }

  #validate(schema: object, value: unknown): string[] {
    const known = this.#known.get(schema) ?? dereference(schema, Object.create(this.#components), initialBaseURI, '/answer');
    this.#known.set(schema, known);
    return check(value, schema, '2020-12', known).errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  }

  #follow<T extends object>(node: (T & Node) | undefined): T | undefined {
    if (node?.$ref === undefined) return node;
    const parts = node.$ref.split('/').slice(1);
    return parts.reduce((at: unknown, part) => (at as Record<string, unknown>)[part], this.#document) as T;
  }
}

function codesIn({ allOf = [], anyOf = [] }: ErrorSchema): string[] {
  return [...allOf.flatMap(({ properties }) => properties?.code?.enum ?? []), ...anyOf.flatMap(codesIn)];
}
