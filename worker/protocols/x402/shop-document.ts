/**
 * OpenAPI document of a shop: the HTTP routes that it sells, in the form that catalogues of agents read. Advisory, because the 402 of a
 * route decides. Pure.
 * (Agentcash Discovery v1, OpenAPI 3.1.0)
 * @module
 */

import { embedSchema, isObject, type JsonObject, type JsonSchema, pointerTokens, toPointer } from '../json-schema/keywords.ts';
import { type Discovery, type HttpRoute, isBodyMethod, parametersOf, shapeOf } from './discovery.ts';

export interface ShopRoute {
  route: HttpRoute;
  service: Pick<Discovery, 'service_name' | 'tags'>;
  /** Name of the product, for a route without a summary. */
  productName: string;
  /** Decimal USDC. */
  price: string;
}

interface ShopOperation extends JsonObject {
  summary: string;
}
export interface ShopDocument {
  openapi: '3.1.0';
  info: { title: string; version: string };
  servers: { url: string }[];
  'x-service-info': { categories: string[]; docs: { homepage: string } };
  paths: Record<string, Record<string, ShopOperation>>;
  components?: { schemas: Record<string, JsonSchema> };
}

/** Builds the document of an origin. Of two routes that match the same requests, the first is shown. */
export function shopDocument(origin: string, routes: readonly ShopRoute[]): ShopDocument {
  const schemas: Record<string, JsonSchema> = {};
  const paths = new Map<string, { path: string; operations: Record<string, ShopOperation> }>();
  for (const sold of routes) {
    const { method, path } = sold.route;
    const shape = shapeOf(path);
    const item = paths.get(shape) ?? { path, operations: {} };
    paths.set(shape, item);
    const verb = method.toLowerCase();
    if (!Object.hasOwn(item.operations, verb)) item.operations[verb] = operationOf(sold, item.path, schemas);
  }
  const services = routes.map(({ service }) => service);
  return {
    openapi: '3.1.0',
    info: { title: services.find((service) => service.service_name)?.service_name ?? new URL(origin).host, version: '1.0.0' },
    servers: [{ url: origin }],
    'x-service-info': { categories: [...new Set(services.flatMap(({ tags }) => tags ?? []))], docs: { homepage: `${origin}/` } },
    paths: Object.fromEntries([...paths.values()].map(({ path, operations }) => [toTemplate(path), operations])),
    ...(Object.keys(schemas).length > 0 ? { components: { schemas } } : {}),
  };
}

const toTemplate = (path: string): string => path.replace(/(?<=\/):([a-zA-Z_][a-zA-Z0-9_]*)/g, '{$1}');

const MEDIA_TYPES = { json: 'application/json', 'form-data': 'multipart/form-data', text: 'text/plain' };

/** `path`: the first spelling of this path, because the names of parameters belong to the path and not to the method. */
function operationOf({ route, productName, price }: ShopRoute, path: string, schemas: Record<string, JsonSchema>): ShopOperation {
  const { method, summary, mime_type: mimeType, query, body, body_type: bodyType = 'json', example, output_example: output } = route;
  const add = (part: string, schema: JsonObject) =>
    addSchema(schemas, `${method.toLowerCase()}_${Object.keys(schemas).length}_${part}`, schema);
  const parameters = [...pathParameters(route, path, add), ...queryParameters(query, example?.query, add)];
  const answer = method === 'HEAD' ? {} : { content: { [mimeType]: { schema: {}, ...(output === undefined ? {} : { example: output }) } } };
  return {
    summary: summary ?? productName,
    security: [],
    'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: price }, protocols: [{ x402: {} }] },
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(isBodyMethod(method)
      ? {
          requestBody: {
            required: true,
            content: { [MEDIA_TYPES[bodyType]]: { schema: add('body', body ?? { type: 'object' }), example: example?.body ?? {} } },
          },
        }
      : {}),
    responses: { 200: { description: 'OK', ...answer }, 402: { description: 'Payment Required' } },
  };
}

type Add = (part: string, schema: JsonObject) => JsonObject;

/** Adds a schema with references as a component, because references are relative to the document. Returns any other unchanged. */
function addSchema(schemas: Record<string, JsonSchema>, name: string, schema: JsonObject): JsonObject {
  if (!JSON.stringify(schema).includes('"$ref"')) return schema;
  schemas[name] = embedSchema(schema, ['components', 'schemas', name]);
  return { $ref: `#/components/schemas/${name}` };
}

const propertiesOf = ({ properties }: JsonObject): Record<string, JsonSchema> =>
  isObject(properties) ? (properties as Record<string, JsonSchema>) : {};

/** Schema of one property, by reference if its schema became a component. */
function propertyOf(schema: JsonObject, added: JsonObject, name: string): JsonSchema {
  const { $ref: reference } = added;
  if (typeof reference !== 'string' || added === schema) return propertiesOf(schema)[name] ?? { type: 'string' };
  const isKnown = Object.hasOwn(propertiesOf(schema), name);
  return isKnown ? { $ref: toPointer([...pointerTokens(reference)!, 'properties', name]) } : { type: 'string' };
}

function pathParameters({ path_params: schema = {}, path: own, example }: HttpRoute, path: string, add: Add): JsonObject[] {
  const added = add('path', schema);
  const names = parametersOf(own);
  return parametersOf(path).map((shown, index) => {
    const name = names[index]!;
    const value = example?.path_params?.[name];
    return {
      name: shown,
      in: 'path',
      required: true,
      schema: propertyOf(schema, added, name),
      ...(value === undefined ? {} : { example: value }),
    };
  });
}

function queryParameters(schema: JsonObject | undefined, example: JsonObject | undefined, add: Add): JsonObject[] {
  if (schema === undefined) return [];
  const added = add('query', schema);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.keys(propertiesOf(schema)).map((name) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    schema: propertyOf(schema, added, name),
    ...(example && Object.hasOwn(example, name) ? { example: example[name] } : {}),
  }));
}
