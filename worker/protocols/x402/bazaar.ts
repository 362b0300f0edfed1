/**
 * Extension `bazaar` of x402: how a resource is called, so that catalogues and agents need no other description of it. Pure.
 * (x402-foundation/x402, specs/extensions/bazaar.md)
 * @module
 */

import { DIALECT, embedSchema, type JsonObject, type JsonSchema } from '../json-schema/keywords.ts';
import {
  type Discovery,
  type HttpRoute,
  isBodyMethod,
  isToolRoute,
  type MatchedRoute,
  matchRoute,
  parametersOf,
  type ResourceCall,
} from './discovery.ts';
import type { ResourceInfo } from './wire.ts';

export const BAZAAR = 'bazaar';

export interface BazaarExtension {
  info: { input: JsonObject; output?: { type: 'json'; example: unknown } };
  schema: { $schema: string; type: 'object'; properties: JsonObject; required: ['input'] };
  /** Only of a path with parameters. */
  routeTemplate?: string;
}

export interface Described {
  bazaar: BazaarExtension;
  resource: Omit<Partial<ResourceInfo>, 'url'>;
}

const EMPTY = { type: 'object' };

/** Describes a call by the first route that matches it, else by its method or tool alone. Null if neither is known. */
export async function describeCall(call: ResourceCall, discovery: Discovery | null): Promise<Described | null> {
  const { method, toolName } = call;
  const matched = matchRoute(discovery?.routes ?? [], call);
  if (!matched || !discovery) {
    if (toolName !== undefined) return { bazaar: extensionOf(toolInput({ tool_name: toolName, input_schema: EMPTY })), resource: {} };
    return method === undefined ? null : { bazaar: extensionOf(httpInput({ method })), resource: {} };
  }
  return { bazaar: await describeRoute(matched), resource: describeResource(discovery, matched) };
}

/** POST without fields, which every route of plans is. */
export const describeEmptyPost = (): BazaarExtension => extensionOf(httpInput({ method: 'POST' }));

const describeResource = (
  { service_name: serviceName, tags, icon_url: iconUrl }: Discovery,
  { route }: MatchedRoute,
): Described['resource'] => ({
  ...(route.summary ? { description: route.summary } : {}),
  ...(isToolRoute(route) ? {} : { mimeType: route.mime_type }),
  ...(serviceName ? { serviceName } : {}),
  ...(tags && tags.length > 0 ? { tags } : {}),
  ...(iconUrl ? { iconUrl } : {}),
});

async function describeRoute({ route, pathParams }: MatchedRoute): Promise<BazaarExtension> {
  const input = isToolRoute(route) ? toolInput(route) : httpInput(route, await pathInput(route, pathParams));
  const template = !isToolRoute(route) && parametersOf(route.path).length > 0 ? { routeTemplate: route.path } : {};
  return { ...extensionOf(input, route.output_example), ...template };
}

interface Input {
  value: JsonObject;
  properties: JsonObject;
  required: string[];
}

function extensionOf({ value, properties, required }: Input, example?: unknown): BazaarExtension {
  const input = { type: 'object', properties, required, additionalProperties: false };
  const schema = { $schema: DIALECT, type: 'object' as const, properties: { input }, required: ['input'] as ['input'] };
  if (example === undefined) return { info: { input: value }, schema };
  const output = { type: 'object', properties: { type: { type: 'string' }, example: {} }, required: ['type'] };
  return { info: { input: value, output: { type: 'json', example } }, schema: { ...schema, properties: { input, output } } };
}

/** Returns the extension without the example of the output. */
export function withoutOutput({ info, schema, ...rest }: BazaarExtension): BazaarExtension {
  const { input } = schema.properties;
  return { ...rest, info: { input: info.input }, schema: { ...schema, properties: { input } } };
}

/** Field of an input: its example, and the schema that it satisfies. */
interface Field {
  value: unknown;
  schema: JsonSchema;
}

type HttpFields = Pick<HttpRoute, 'query' | 'body' | 'body_type' | 'example'> & { method: string };

function httpInput({ method, query, body, body_type: bodyType = 'json', example }: HttpFields, pathParams: Field | null = null): Input {
  const fields: Record<string, Field> = {
    ...(query || example?.query ? { queryParams: { value: example?.query ?? {}, schema: query ?? EMPTY } } : {}),
    ...(isBodyMethod(method)
      ? {
          bodyType: { value: bodyType, schema: { type: 'string', enum: [bodyType] } },
          body: { value: example?.body ?? {}, schema: body ?? EMPTY },
        }
      : {}),
    ...(pathParams ? { pathParams } : {}),
  };
  const entries = Object.entries(fields);
  const schemas = entries.map(([name, { schema }]) => [name, embedSchema(schema, ['properties', 'input', 'properties', name])] as const);
  return {
    value: { type: 'http', method, ...Object.fromEntries(entries.map(([name, { value }]) => [name, value])) },
    properties: { type: { type: 'string', const: 'http' }, method: { type: 'string', enum: [method] }, ...Object.fromEntries(schemas) },
    required: ['type', 'method', ...(isBodyMethod(method) ? ['bodyType', 'body'] : [])],
  };
}

/** A stranger chooses the URL, so its values may break the schema of the parameters. They are shown without it then. */
async function pathInput({ path, path_params: schema }: HttpRoute, value: Record<string, string>): Promise<Field | null> {
  if (parametersOf(path).length === 0) return null;
  if (schema === undefined) return { value, schema: EMPTY };
  const { satisfies } = await import('../json-schema/validate.ts');
  return { value, schema: satisfies(schema, value) ? schema : EMPTY };
}

interface ToolFields {
  tool_name: string;
  summary?: string | undefined;
  input_schema: JsonObject;
  example?: JsonObject | undefined;
  transport?: string | undefined;
}

function toolInput({ tool_name: toolName, summary: description, input_schema: inputSchema, example, transport }: ToolFields): Input {
  const text = { type: 'string' };
  const given = <T>(name: string, value: T | undefined, schema: JsonObject) => (value === undefined ? [] : [{ name, value, schema }]);
  const fields = [
    { name: 'type', value: 'mcp', schema: { ...text, const: 'mcp' } },
    { name: 'toolName', value: toolName, schema: text },
    ...given('description', description, text),
    ...given('transport', transport, { ...text, enum: [transport] }),
    { name: 'inputSchema', value: inputSchema, schema: EMPTY },
    ...given('example', example, EMPTY),
  ];
  return {
    value: Object.fromEntries(fields.map(({ name, value }) => [name, value])),
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    required: ['type', 'toolName', 'inputSchema'],
  };
}
