import { operations } from '../../contract/spec-routes.ts';
import type { Belongings } from '../people/tenant.ts';
import { type Operation, openApi } from './call.ts';

/** A schema of the published document, as far as bodies and parameters of ours use it. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  example?: unknown;
}

/** A route of the document. */
export interface Target {
  method: string;
  path: string;
  operation: Operation;
}

export const targets: Target[] = [...operations].map(([name, operation]) => {
  const [method, path] = name.split(' ') as [string, string];
  return { method, path, operation };
});

export const nameOf = ({ method, path }: Target): string => `${method} ${path}`;

export const resolve = (schema: Schema): Schema =>
  schema.$ref ? resolve(openApi.components.schemas[schema.$ref.split('/').at(-1)!] as Schema) : schema;

export const schemaOfBody = ({ requestBody }: Operation): Schema | undefined =>
  requestBody?.content['application/json']?.schema as Schema | undefined;

export const takes = ({ security }: Operation, scheme: string): boolean => security?.some((one) => scheme in one) ?? false;
/** The document lets callers in who show nothing. */
export const isOpen = ({ security }: Operation): boolean => security?.some((one) => Object.keys(one).length === 0) ?? true;

/** Every route that reads what is a merchant's. */
export const reads = targets.filter(
  ({ method, path }) => method === 'GET' && !/^\/v1\/(?:testing|auth|health)|^\/health|operator/.test(path),
);

/** An answer as text, without what tells of the request itself, of the calls before it and of the moment. */
export const steadyText = (status: number, body: unknown): string =>
  JSON.stringify([status, body]).replace(
    /"request_id":"[^"]*"|"recent_activity":\[[^\]]*\]|"last_used_at":"[^"]*"|"usage_summary":\{[^}]*\}|"(?:total|success|error)_calls":\d+|"latency_ms":\d+|"(?:ip|nonce|now|as_of|checked_at)[^"]*":"[^"]*"/g,
    '',
  );

const NOWHERE = '01900000-0000-7000-8000-000000000000';
const TEXTS: Record<string, string> = {
  uuid: NOWHERE,
  email: 'ada@example.com',
  uri: 'https://shop.example.com/thanks',
  'date-time': '2026-01-01T00:00:00Z',
};
/** Of some fields a route wants one: these are sent, though each of them is optional. */
const WANTED = ['product_id', 'units'];

/** A body the route takes: its example, else as little as it asks for; what is named in it belongs to this tenant. */
export function exampleOf(given: Schema, belongings: Belongings, name = ''): unknown {
  const schema = resolve(given);
  if (belongings[name] !== undefined && schema.type === 'string') return belongings[name];
  if (name === 'transaction') return 'AAAA';
  if (schema.type === 'object' && schema.properties) {
    const { properties, required = [], example = {} } = schema;
    // An announcement names an amount or units, never both.
    const wanted = WANTED.filter((one) => one in properties && !(one === 'units' && 'amount' in (example as object)));
    const names = new Set([...required, ...Object.keys(example as object), ...wanted]);
    const shown = (one: string) =>
      properties[one]!.properties || properties[one]!.$ref ? undefined : (example as Record<string, unknown>)[one];
    const value = (one: string) => (belongings[one] === undefined ? shown(one) : undefined) ?? exampleOf(properties[one]!, belongings, one);
    return Object.fromEntries([...names].filter((one) => one in properties).map((one) => [one, value(one)]));
  }
  if (schema.example !== undefined) return schema.example;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!, belongings, name);
  if (schema.type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => exampleOf(schema.items ?? {}, belongings, name));
  if (schema.type === 'string') return TEXTS[schema.format ?? ''] ?? 'x'.repeat(Math.max(1, schema.minLength ?? 1));
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  return schema.type === 'boolean' ? false : {};
}

const ALIASES: Record<string, string> = { token: 'handoff_token', tx_sig: 'tx_signature' };
const FREE: Record<string, string> = { rail_id: 'solana_usdc', provider: 'telegram', delivery_id: '999999999' };
const freeOf = (path: string, name: string): string | undefined => (path.includes('/mail/') && name === 'provider' ? 'resend' : FREE[name]);

/** What belongs to this tenant in the places of a path. */
export const paramsOf = ({ path }: Target, belongings: Belongings): Record<string, string> =>
  Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, belongings[ALIASES[name!] ?? name!] ?? freeOf(path, name!) ?? NOWHERE]),
  );

/** What a list or a look-up goes by: the first object of the tenant that its query can name. */
export function queryOf({ method, operation }: Target, belongings: Belongings): [string, string][] {
  const named = (operation.parameters ?? []).find(({ in: place, name }) => place === 'query' && /_id$/.test(name) && belongings[name]);
  return method === 'GET' && named ? [[named.name, belongings[named.name]!]] : [];
}

export function pathOf(target: Target, belongings: Belongings): string {
  const params = paramsOf(target, belongings);
  const filled = target.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!));
  return [filled, ...queryOf(target, belongings).map((pair) => pair.join('='))].join('?');
}
