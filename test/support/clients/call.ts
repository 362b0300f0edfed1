import { validate as check, dereference, initialBaseURI, type Schema } from '@cfworker/json-schema';
import { z } from '@hono/zod-openapi';
import { expect } from 'vitest';
import { toEventResource } from '#features/webhooks/resource.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { openApiDocument } from '../../../worker/app.ts';
import { envelopeOf } from '../../../worker/published/event-catalog.ts';
import { checkEventsBy } from '../runner/published-events.ts';

export interface OpenApi {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
  'x-error-codes': Record<string, { status: number }>;
}
export interface Operation {
  operationId: string;
  'x-scope'?: string;
  'x-idempotency'?: 'required' | 'honoured' | 'natural' | 'none';
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

export const publishedDocument = openApiDocument() as unknown as OpenApi;

type Node = { $ref?: string };
/** Node that a reference names. */
const follow = <T extends object>(node: T & Node): T =>
  node.$ref === undefined
    ? node
    : (node.$ref
        .split('/')
        .slice(1)
        .reduce((at: unknown, name) => (at as Record<string, unknown>)[name], publishedDocument) as T);

const inlined = (operation: Operation): Operation => ({
  ...operation,
  ...(operation.parameters ? { parameters: operation.parameters.map(follow) } : {}),
  responses: Object.fromEntries(Object.entries(operation.responses).map(([status, response]) => [status, follow(response)])),
});

/** Published document with the references of parameters and answers followed. */
export const openApi: OpenApi = {
  ...publishedDocument,
  paths: Object.fromEntries(
    Object.entries(publishedDocument.paths).map(([path, operations]) => [
      path,
      Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, inlined(operation)])),
    ]),
  ),
};

interface ErrorSchema {
  allOf?: { properties?: { code?: { enum: string[] } } }[];
  anyOf?: ErrorSchema[];
}
/** Codes that the schema of an error answer allows. */
export const codesIn = ({ allOf = [], anyOf = [] }: ErrorSchema): string[] => [
  ...allOf.flatMap(({ properties }) => properties?.code?.enum ?? []),
  ...anyOf.flatMap(codesIn),
];
export const codesOf = (response: Operation['responses'][string] | undefined): string[] =>
  codesIn((response?.content?.['application/json']?.schema ?? {}) as ErrorSchema);

const paramsIn = (template: string) => template.split('{').length - 1;
const templates = Object.entries(openApi.paths)
  .map(([template, operations]) => ({
    template,
    operations,
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }))
  .sort((a, b) => paramsIn(a.template) - paramsIn(b.template));

/**
 * Finds the operation of a request: the template with the fewest parameters wins, as in the router. A path that is literally in the
 * document has only its own methods.
 */
export function findOperation(method: string, path: string): { template: string; operation: Operation } | null {
  const verb = method.toLowerCase();
  const isLiteralPath = path in openApi.paths;
  const found = templates.find(({ template, operations, pattern }) =>
    isLiteralPath ? template === path && operations[verb] : operations[verb] && pattern.test(path),
  );
  return found ? { template: found.template, operation: found.operations[verb]! } : null;
}

type Known = Record<string, Schema | boolean>;

/** Components with references resolved once. Walking them for every answer takes longer than checking one. */
const components: Known = dereference({ components: openApi.components } as Schema);
const knownTo = new Map<object, Known>();
export function validate(schema: object, value: unknown): string[] {
  const known = knownTo.get(schema) ?? dereference(schema, Object.create(components), initialBaseURI, '/answer');
  knownTo.set(schema, known);
  return check(value, schema, '2020-12', known).errors.map((error) => `${error.instanceLocation}: ${error.error}`);
}

/** Fails if an answer differs from the published document: an undocumented status, a body outside its schema, or an unlisted error code. */
export function expectPublishedResponse(method: string, path: string, status: number, body: unknown): void {
  expect(status, `${method} ${path}: ${JSON.stringify(body)}`).not.toBe(500);
  const found = findOperation(method, path);
  if (!found) return;
  const response = found.operation.responses[status];
  expect(
    response,
    `${method} ${found.template} answered ${status}, which the document does not name: ${JSON.stringify(body)}`,
  ).toBeDefined();
  // A failing health answer has a body of its own.
  if (status >= 400 && !path.endsWith('/health')) {
    const { code } = (body ?? {}) as { code?: string };
    expect(codesOf(response), `${method} ${found.template} answered ${status} ${code}, which the document does not name`).toContain(code);
    const statuses = code === 'invalid_authorization' ? [401, 403] : [openApi['x-error-codes'][code!]?.status];
    expect(statuses, `${method} ${found.template} ${code}`).toContain(status);
  }
  const content = response?.content?.['application/json'];
  if (content) expect(validate(content.schema, body), `${method} ${found.template} ${status}: ${JSON.stringify(body)}`).toEqual([]);
}

/** Closed, unlike the published ones: what we send has no field that its schema does not describe. */
const eventSchemas = new Map<string, object>(EVENT_TYPES.map((type) => [type, z.toJSONSchema(envelopeOf(type))]));

export function expectPublishedEvent(body: string): void {
  const event = JSON.parse(body) as { type: string };
  expect(validate(eventSchemas.get(event.type)!, event), body).toEqual([]);
}

checkEventsBy((event) => expectPublishedEvent(JSON.stringify(toEventResource(event))));
