import { operations } from '../../contract/spec-routes.ts';
import type { Belongings } from '../people/tenant.ts';
import { type Operation, openApi } from './call.ts';

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
export const isOpen = ({ security }: Operation): boolean => security?.some((one) => Object.keys(one).length === 0) ?? true;

export const reads = targets.filter(
  ({ method, path }) => method === 'GET' && !/^\/v1\/(?:testing|auth|health)|^\/health|operator/.test(path),
);

/** Answer as text, without fields that depend on the request, earlier calls or the time. */
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
const WANTED = ['product_id', 'units'];

/** Builds a valid body: the example, otherwise the minimum, with names of this tenant's objects. */
export function exampleOf(given: Schema, belongings: Belongings, name = ''): unknown {
  const schema = resolve(given);
  if (belongings[name] !== undefined && schema.type === 'string') return belongings[name];
  if (name === 'transaction') return 'AAAA';
  if (schema.type === 'object' && schema.properties) {
    const { properties, required = [], example = {} } = schema;
    // An announcement names an amount or units, never both.
    const wanted = WANTED.filter((one) => one in properties && !(one === 'units' && 'amount' in (example as object)));
    const names = new Set([...required, ...Object.keys(example as object), ...wanted]);
    const shown = example as Record<string, unknown>;
    const value = (one: string) => {
      const inner = resolve(properties[one]!);
      if (inner.properties) return exampleOf({ ...inner, example: inner.example ?? shown[one] }, belongings, one);
      return (belongings[one] === undefined ? shown[one] : undefined) ?? exampleOf(inner, belongings, one);
    };
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

export const paramsOf = ({ path }: Target, belongings: Belongings): Record<string, string> =>
  Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, belongings[ALIASES[name!] ?? name!] ?? freeOf(path, name!) ?? NOWHERE]),
  );

/** Query for the first object of the tenant that the route's parameters can name. */
export function queryOf({ method, operation }: Target, belongings: Belongings): [string, string][] {
  const named = (operation.parameters ?? []).find(
    ({ in: location, name }) => location === 'query' && /_id$/.test(name) && belongings[name],
  );
  return method === 'GET' && named ? [[named.name, belongings[named.name]!]] : [];
}

export function pathOf(target: Target, belongings: Belongings): string {
  const params = paramsOf(target, belongings);
  const filled = target.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!));
  return [filled, ...queryOf(target, belongings).map((pair) => pair.join('='))].join('?');
}
