import { z } from '@hono/zod-openapi';
import {
  BODY_TYPES,
  type Discovery,
  type HttpRoute,
  isBodyMethod,
  ROUTE_BYTES_MAX,
  ROUTE_METHODS,
  ROUTES_MAX,
  type Route,
  TRANSPORTS,
} from '#protocols/x402/discovery.ts';
import { ShownName } from './own-fields.ts';

const Label = z.string().regex(/^[\x20-\x7e]{1,32}$/, 'Expected 1 to 32 printable ASCII characters');
const JsonSchemaObject = z.record(z.string(), z.unknown());
const Values = z.record(z.string(), z.unknown());

/** Both forms share an object, so that each fault has the path of its field. */
const RouteBody = z
  .object({
    method: z.enum(ROUTE_METHODS).optional(),
    tool_name: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'Expected 1 to 128 visible characters')
      .optional()
      .describe('Name of an MCP tool, instead of a method.'),
    path: z
      .string()
      .max(ROUTE_BYTES_MAX)
      .optional()
      .describe('Path of the URL. A segment such as `:city` is a parameter. Required for HTTP routes; `/mcp` by default for MCP tools.'),
    summary: ShownName(200).optional().describe('Short description of the route, as agents see it.'),
    mime_type: z
      .string()
      .max(100)
      .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[\x20-\x7e]*)?$/, 'Expected a media type')
      .optional()
      .openapi({ default: 'application/json' })
      .describe('Media type of the response of an HTTP route.'),
    path_params: JsonSchemaObject.optional().describe('JSON Schema of the parameters of the path. Their values are text.'),
    query: JsonSchemaObject.optional().describe('JSON Schema of the query of an HTTP route.'),
    body: JsonSchemaObject.optional().describe('JSON Schema of the body of POST, PUT and PATCH.'),
    body_type: z.enum(BODY_TYPES).optional().openapi({ default: 'json' }).describe('Encoding of the body of POST, PUT and PATCH.'),
    input_schema: JsonSchemaObject.optional().describe('JSON Schema of the arguments of an MCP tool. Required for it.'),
    transport: z.enum(TRANSPORTS).optional(),
    example: Values.optional().describe(
      'Example that satisfies the schemas: `path_params`, `query` and `body` of an HTTP route, the arguments of an MCP tool. Required if a schema has required fields.',
    ),
    output_example: z.unknown().optional(),
  })
  .openapi('DiscoveryRoute', {
    description: `HTTP route or MCP tool that a product sells, at most ${ROUTE_BYTES_MAX} bytes of JSON. JSON Schemas are of 2020-12 and of type \`object\`.`,
    example: {
      method: 'GET',
      path: '/forecast/:city',
      summary: 'Weather forecast of a city',
      path_params: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      example: { path_params: { city: 'paris' } },
      output_example: { celsius: 21 },
    },
  });
type RouteInput = z.infer<typeof RouteBody>;

const fields = {
  service_name: Label.optional().describe('Name of the service, 1 to 32 printable ASCII characters.'),
  tags: z.array(Label).max(5).optional().describe('Topics of the service, each 1 to 32 printable ASCII characters.'),
  icon_url: z.string().max(256).optional(),
  routes: z.array(RouteBody).max(ROUTES_MAX),
};

const HTTP_ONLY = ['mime_type', 'path_params', 'query', 'body', 'body_type'] as const;
const TOOL_ONLY = ['input_schema', 'transport'] as const;
const HttpExample = z.strictObject({ path_params: Values.optional(), query: Values.optional(), body: Values.optional() });

type Fault = { path: string[]; message: string };
const fault = (field: string, message: string): Fault => ({ path: [field], message });

/** Fields that do not belong to the form of a route, and those that it lacks. */
function checkForm(route: RouteInput): Fault[] {
  const { method, tool_name: tool, path, input_schema: schema, example } = route;
  if (method === undefined && tool === undefined) return [fault('method', 'Expected a method, or tool_name for an MCP tool')];
  if (method !== undefined && tool !== undefined) return [fault('tool_name', 'Name a method or an MCP tool, not both')];
  const foreign = (tool === undefined ? TOOL_ONLY : HTTP_ONLY).filter((field) => route[field] !== undefined);
  const faults = foreign.map((field) => fault(field, `Not allowed for ${tool === undefined ? 'an HTTP route' : 'an MCP tool'}`));
  if (tool !== undefined) return schema === undefined ? [...faults, fault('input_schema', 'Required for an MCP tool')] : faults;
  if (path === undefined) faults.push(fault('path', 'Required for an HTTP route'));
  const { error } = HttpExample.optional().safeParse(example);
  for (const { path: at, message } of error?.issues ?? []) faults.push({ path: ['example', ...at.map(String)], message });
  return faults;
}

/** Description in the form that is stored, with every default. */
export function toDiscovery({ listed = false, routes = [], ...service }: z.infer<typeof DiscoveryInput>): Discovery {
  return { listed, ...service, routes: routes.map(toRoute) };
}

function toRoute(route: RouteInput): Route {
  const { method, tool_name: tool, path = '/mcp', input_schema: schema, mime_type: mimeType = 'application/json', ...rest } = route;
  if (tool !== undefined) return { tool_name: tool, path, ...rest, input_schema: schema ?? {} };
  const body = isBodyMethod(method!) ? { body_type: rest.body_type ?? 'json' } : {};
  return { method: method!, path, mime_type: mimeType, ...rest, ...body } as HttpRoute;
}

/** Evaluates schemas, so it is parsed asynchronously. */
export const DiscoveryInput = z
  .object({
    listed: z.boolean().optional().openapi({ default: false }).describe('True to list the routes in the public catalogue.'),
    ...fields,
    routes: fields.routes.optional().describe('Routes that take payments for the product, the most specific first.'),
  })
  .superRefine(async (input, context) => {
    const add = (faults: Fault[]) => {
      for (const { path, message } of faults) {
        context.addIssue({ code: 'custom', path: path.map((part) => (/^\d+$/.test(part) ? Number(part) : part)), message });
      }
    };
    const forms = (input.routes ?? []).flatMap((route, index) =>
      checkForm(route).map(({ path, message }) => ({ path: ['routes', String(index), ...path], message })),
    );
    if (forms.length > 0) return add(forms);
    const { checkDiscovery } = await import('#protocols/x402/discovery-check.ts');
    add(checkDiscovery(toDiscovery(input)));
  })
  .openapi('DiscoveryInput');

export const DiscoveryBody = z
  .object({
    listed: z.boolean().describe('True if the routes are listed in the public catalogue.'),
    ...fields,
    routes: fields.routes.describe('Routes that take payments for the product, in the order in which they are matched.'),
  })
  .openapi('Discovery', { description: 'Description of the routes that a product sells, for agents and catalogues.' });
