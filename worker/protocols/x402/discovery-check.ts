/**
 * Rules for the description of what a product sells. Everything that a catalogue would drop in silence is a fault here. Pure, loaded on
 * demand.
 * (x402-foundation/x402, specs/extensions/bazaar.md)
 * @module
 */

import { utf8 } from '#core/encoding.ts';
import { checkJson, checkSchema, type Fault } from '../json-schema/check.ts';
import { satisfies } from '../json-schema/validate.ts';
import {
  type Discovery,
  type HttpRoute,
  isBodyMethod,
  isToolRoute,
  parametersOf,
  ROUTE_BYTES_MAX,
  type Route,
  shapeOf,
  type ToolRoute,
} from './discovery.ts';

const ICON_URL_MAX = 256;
const LOOPBACK_NAMES = ['localhost', 'localhost.localdomain', 'ip6-localhost', 'ip6-loopback'];

const at = (name: string, faults: Fault[]): Fault[] =>
  faults.map(({ path, message }) => ({ path: [...name.split('.'), ...path], message }));
const when = (isFault: boolean, path: string, message: string): Fault[] => (isFault ? at(path, [{ path: [], message }]) : []);

/** Returns all faults with their paths in the description. */
export const checkDiscovery = ({ tags, icon_url: iconUrl, routes }: Discovery): Fault[] => [
  ...(tags ?? []).flatMap((tag, index) =>
    when(
      (tags ?? []).findIndex((other) => other.toLowerCase() === tag.toLowerCase()) < index,
      `tags.${index}`,
      'Expected every tag once, without regard to case',
    ),
  ),
  ...(iconUrl === undefined ? [] : when(!isIconUrl(iconUrl), 'icon_url', 'Expected a public https URL with a host name')),
  ...routes.flatMap((route, index) => at(`routes.${index}`, [...checkRoute(route), ...checkUnique(route, routes.slice(0, index))])),
];

export function isIconUrl(text: string): boolean {
  if (text.length > ICON_URL_MAX || /\p{Cc}/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  const host = hostname.replace(/\.$/, '').toLowerCase();
  const isAddress = host.startsWith('[') || /^[\d.]+$/.test(host) || /^0x[\da-f]+$/.test(host);
  return protocol === 'https:' && username + password === '' && host !== '' && !isAddress && !LOOPBACK_NAMES.includes(host);
}

function checkUnique(route: Route, earlier: readonly Route[]): Fault[] {
  const isSame = (other: Route) =>
    isToolRoute(route)
      ? isToolRoute(other) && other.tool_name === route.tool_name
      : !isToolRoute(other) && other.method === route.method && shapeOf(other.path) === shapeOf(route.path);
  return when(
    earlier.some(isSame),
    isToolRoute(route) ? 'tool_name' : 'path',
    'Expected each route once: another one matches the same requests',
  );
}

function checkRoute(route: Route): Fault[] {
  const values = checkJson(route);
  if (values.length > 0) return values;
  const isTooLarge = utf8(JSON.stringify(route)).length > ROUTE_BYTES_MAX;
  if (isTooLarge) return [{ path: [], message: `Expected at most ${ROUTE_BYTES_MAX} bytes of JSON` }];
  return [...checkPath(route), ...(isToolRoute(route) ? checkTool(route) : checkHttp(route))];
}

const ALLOWED_PATH = /^\/[a-zA-Z0-9_/:.\-~%]+$/;
const DECODINGS_MAX = 5;

/** Decodes until nothing changes. Null if the text is not decodable, or encoded again and again. */
function decodeFully(text: string): string | null {
  try {
    let decoded = text;
    for (let count = 0; count < DECODINGS_MAX; count++) {
      const next = decodeURIComponent(decoded);
      if (next === decoded) return decoded;
      decoded = next;
    }
    return null;
  } catch {
    return null;
  }
}

function checkPath(route: Route): Fault[] {
  const { path } = route;
  const decoded = decodeFully(path);
  if (!ALLOWED_PATH.test(path) || decoded === null || decoded.includes('..') || decoded.includes('://') || /\p{Cc}/u.test(decoded))
    return when(true, 'path', 'Expected a path such as /forecast/:city, of letters, digits and / : . - _ ~ %, without ..');
  const names = parametersOf(path);
  const isStandard = new URL(path, 'https://host.example').pathname === path && !path.startsWith('//');
  return [
    ...when(path.split(':').length - 1 !== names.length, 'path', 'Expected parameters that are a complete segment, such as /:city'),
    ...when(!isStandard, 'path', 'Expected a path as URLs contain it'),
    ...when(new Set(names).size < names.length, 'path', 'Expected different names of parameters'),
    ...when(
      names.some((name) => name in Object.prototype),
      'path',
      'Expected other names of parameters',
    ),
    ...when(isToolRoute(route) && names.length > 0, 'path', 'Expected a path without parameters'),
  ];
}

const checkTool = ({ input_schema: schema, example }: ToolRoute): Fault[] => checkValue({ schema, at: 'input_schema' }, example, 'example');

function checkHttp({ method, path, path_params: pathParams, query, body, body_type: bodyType, example }: HttpRoute): Fault[] {
  const hasBody = isBodyMethod(method);
  return [
    ...when(!hasBody && body !== undefined, 'body', `Not allowed for ${method}`),
    ...when(!hasBody && bodyType !== undefined, 'body_type', `Not allowed for ${method}`),
    ...when(!hasBody && example?.body !== undefined, 'example.body', `Not allowed for ${method}`),
    ...checkPathParams(parametersOf(path), pathParams, example?.path_params),
    ...checkValue({ schema: query, at: 'query' }, example?.query, 'example.query'),
    ...(hasBody ? checkValue({ schema: body, at: 'body' }, example?.body, 'example.body') : []),
  ];
}

function checkPathParams(names: string[], schema: HttpRoute['path_params'], example: Record<string, unknown> | undefined): Fault[] {
  const isSegment = (value: unknown) => typeof value === 'string' && !['', '.', '..'].includes(value);
  const declared = Object.keys((schema?.properties as object | undefined) ?? {});
  const given = Object.entries(example ?? {});
  return [
    ...declared.flatMap((name) => when(!names.includes(name), 'path_params', `Expected parameters of the path only, not ${name}`)),
    ...given.flatMap(([name, value]) => [
      ...when(!names.includes(name), 'example.path_params', `Expected parameters of the path only, not ${name}`),
      ...when(names.includes(name) && !isSegment(value), `example.path_params.${name}`, 'Expected a text for one segment of the path'),
    ]),
    ...when(
      example !== undefined && names.some((name) => !Object.hasOwn(example, name)),
      'example.path_params',
      'Expected a value for every parameter of the path',
    ),
    ...checkValue({ schema, at: 'path_params' }, example, 'example.path_params'),
  ];
}

/** Checks a schema, and its example. A missing example counts as an empty object. */
function checkValue(of: { schema: Record<string, unknown> | undefined; at: string }, example: unknown, exampleAt: string): Fault[] {
  if (of.schema === undefined) return [];
  const faults = at(of.at, checkSchema(of.schema));
  if (faults.length > 0 || satisfies(of.schema, example ?? {})) return faults;
  return when(true, exampleAt, example === undefined ? `Required by ${of.at}` : `Expected a value that satisfies ${of.at}`);
}
