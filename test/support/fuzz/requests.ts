import fc from 'fast-check';
import { hmacSha256 } from '#core/crypto.ts';
import { hex, utf8 } from '#core/encoding.ts';
import type { Operation } from '../clients/call.ts';
import { exampleOf, isOpen, paramsOf, queryOf, type Schema, schemaOfBody, type Target, takes } from '../clients/document.ts';
import type { Belongings, Tenant } from '../people/tenant.ts';
import { CONNECTOR_SECRETS } from '../runner/env.ts';
import { svixHeaders } from '../servers/mail.ts';
import { strangerAddress, type World } from '../world.ts';
import type { Made } from './made.ts';
import { asIs, hostileTexts, type Spoiling, spoil, spoilings, type Wire, wires } from './spoil.ts';
import { addresses, type Known, signatures, valuesOf } from './values.ts';

export type Caller = 'key' | 'token' | 'sandboxKey' | 'readKey' | 'executeKey' | 'sandboxToken' | 'nobody' | 'garbage';

export interface Plan {
  caller: Caller;
  params: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string>;
  body?: unknown;
  spoilings: Spoiling[];
  wire: [string, Wire];
}

/** Tenants of the run. The caller is the owner, and every value of the stranger is forged. */
export interface Cast {
  owner: Tenant;
  stranger: Tenant;
  made: Made;
}

const NOWHERE = '01900000-0000-7000-8000-000000000000';
/** Parameters and fields with another name for an equal value. */
const ALIASES: Record<string, string> = {
  wallet: 'wallet_address',
  payer_wallet: 'wallet_address',
  token: 'handoff_token',
  replace_live_key_id: 'key_id',
  'PAYMENT-SIGNATURE': 'payment_signature',
};

/** Values for a name: mostly the owner's, otherwise of its other mode, the stranger or an unknown one. */
const knownOf = ({ owner, stranger, made }: Cast): Known => {
  const fixed: Record<string, fc.Arbitrary<string>> = {
    asset: fc.constantFrom('USDC', 'USDC', 'SOL'),
    amount: fc.constantFrom('1', '0.01', '0.000001', '5'),
    provider: fc.constantFrom('telegram', 'discord'),
    payout_wallet: fc.oneof(fc.constant(owner.merchant.wallet.address as string), addresses),
    account: fc.oneof(fc.constant(owner.live.wallet_address!), addresses),
    signed_message: signatures,
    timezone: fc.constantFrom('Europe/Berlin', 'UTC', 'Mars/Olympus'),
    current_password: fc.constantFrom('correct horse battery', 'wrong password'),
    password: fc.constantFrom('correct horse battery', 'wrong password'),
    event_types: fc.constantFrom('*', 'payment.*', 'payment.confirmed'),
    event_type: fc.constantFrom('*', 'payment.confirmed', 'receipt.created'),
    hookUrl: fc.constant('https://hooks.example.com/x'),
    target_url: fc.constant('https://hooks.example.com/x'),
    homepage_url: fc.constant('https://shop.example.com'),
  };
  const FREE: Record<string, fc.Arbitrary<string>> = { wallet_address: addresses, tx_signature: signatures, tx_sig: signatures };
  return (given) => {
    const name = ALIASES[given] ?? given;
    const own = [owner.live[name], ...(made[name] ?? [])].filter((value) => value !== undefined);
    if (own.length === 0) return fixed[name];
    const others = [owner.sandbox[name], stranger.live[name], stranger.sandbox[name]].filter((value) => value !== undefined);
    // A caller with a setup's secret counts as its agent, so no foreign secret is sent.
    const forged = name === 'setup_secret' ? [] : others;
    return fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...own) },
      ...(forged.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...forged) }] : []),
      { weight: 1, arbitrary: FREE[name] ?? fc.constant(NOWHERE) },
    );
  };
};

/** Callers, mostly admitted ones, so that the code behind admission is exercised. */
function callersOf(operation: Operation): fc.Arbitrary<Caller> {
  const wanted: Caller[] = [
    ...(takes(operation, 'apiKey') ? (['key', 'key', 'key', 'sandboxKey'] as const) : []),
    ...(takes(operation, 'bearer') ? (['token', 'sandboxToken'] as const) : []),
    ...(takes(operation, 'buyer') ? (['token', 'token'] as const) : []),
    ...(isOpen(operation) ? (['nobody', 'nobody'] as const) : []),
  ];
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<Caller>(...(wanted.length > 0 ? wanted : (['nobody'] as const))) },
    { weight: 2, arbitrary: fc.constantFrom<Caller>('key', 'token', 'sandboxKey', 'readKey', 'executeKey', 'nobody', 'garbage') },
  );
}

const IDEMPOTENCY_KEYS = fc.oneof(
  { weight: 8, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: fc.constantFrom('the-same-key', 'x', 'x'.repeat(256), 'a b c d e f g', 'schlüssel-1', '') },
);

export function plansOf({ method, operation }: Target, cast: Cast): fc.Arbitrary<Plan> {
  const known = knownOf(cast);
  const parameters = operation.parameters ?? [];
  const schemaOf = (parameter: (typeof parameters)[number]) => ((parameter as { schema?: Schema }).schema ?? {}) as Schema;
  const of = (location: string) =>
    Object.fromEntries(
      parameters.filter(({ in: where }) => where === location).map((one) => [one.name, valuesOf(schemaOf(one), known, one.name)]),
    );
  const asText = (value: unknown) => String(value);
  const params = fc.record(
    Object.fromEntries(
      Object.entries(of('path')).map(([name, values]) => [
        name,
        fc.oneof({ weight: 12, arbitrary: values.map(asText) }, { weight: 1, arbitrary: hostileTexts }),
      ]),
    ),
  );
  const named = Object.entries(of('query')).map(([name, values]) =>
    fc.tuple(fc.constant(name), fc.oneof({ weight: 8, arbitrary: values.map(asText) }, { weight: 1, arbitrary: hostileTexts })),
  );
  const strange = fc.tuple(fc.oneof(fc.constantFrom('page', 'per_page', 'mode', 'limit', 'q[]'), hostileTexts), hostileTexts);
  const query = fc.oneof(
    { weight: 3, arbitrary: fc.constant<[string, string][]>([]) },
    { weight: 5, arbitrary: named.length > 0 ? fc.array(fc.oneof(...named), { maxLength: 3 }) : fc.constant<[string, string][]>([]) },
    { weight: 1, arbitrary: fc.array(strange, { maxLength: 3 }) },
  );
  const { 'Idempotency-Key': keyed, ...own } = of('header');
  const headers = fc.record<Record<string, string>>(
    {
      ...Object.fromEntries(Object.entries(own).map(([name, values]) => [name, values.map(asText)])),
      ...(keyed ? { 'Idempotency-Key': IDEMPOTENCY_KEYS } : {}),
    },
    { requiredKeys: parameters.filter(({ required, in: where }) => required && where === 'header').map(({ name }) => name) },
  );
  const schema = schemaOfBody(operation);
  // A body that the route does not want must be tolerated.
  const unwanted = { body: fc.constantFrom(undefined, undefined, {}, [], 'x', { mode: 'live' }) };
  const example = schema && exampleOf(schema, meantOf(cast));
  const near = schema && fc.oneof({ weight: 1, arbitrary: fc.constant(example) }, { weight: 2, arbitrary: valuesOf(schema, known) });
  const body = near ? { body: near } : method === 'GET' ? {} : unwanted;
  const plan = fc.record({ caller: callersOf(operation), params, query, headers, ...body, spoilings, wire: wires }) as fc.Arbitrary<Plan>;
  return plan.map((one) => ({ ...one, [fc.toStringMethod]: () => describePlan(one) }));
}

const meantOf = ({ owner, made }: Cast): Belongings => ({
  ...owner.live,
  ...Object.fromEntries(Object.entries(made).map(([name, [first]]) => [name, first!])),
});

function callerFor({ path, operation }: Target): Caller {
  // The open metered session is in the sandbox.
  if (path.startsWith('/v1/testing/') || path.endsWith('/metered-sessions/{session_id}/deliveries')) return 'sandboxKey';
  // Staff are people, and only people link a provider.
  if (path.endsWith('/resolve') || path.endsWith('/start')) return 'token';
  if (takes(operation, 'apiKey')) return 'key';
  return takes(operation, 'bearer') ? 'token' : 'nobody';
}

export function asMeant(target: Target, cast: Cast): Plan {
  const { operation } = target;
  const meant = meantOf(cast);
  const schema = schemaOfBody(operation);
  const named = operation.parameters?.map(({ name }) => name) ?? [];
  return {
    caller: callerFor(target),
    params: paramsOf(target, meant),
    query: queryOf(target, meant),
    headers: {
      ...(named.includes('Idempotency-Key') ? { 'Idempotency-Key': crypto.randomUUID() } : {}),
      ...(named.includes('PAYMENT-SIGNATURE') ? { 'PAYMENT-SIGNATURE': meant.payment_signature! } : {}),
    },
    ...(schema ? { body: exampleOf(schema, meant) } : {}),
    spoilings: [],
    wire: ['as it should be', asIs],
  };
}

/** Plan as text for a failure message. The library's own output is too deep for nested values. */
export const describePlan = ({ wire: [wire], ...plan }: Plan): string => JSON.stringify({ ...plan, wire }).slice(0, 1500);

export interface Sent {
  isSandbox: boolean;
  isKnownCaller: boolean;
  answer: { status: number; body: unknown; headers: Headers };
}

const encode = (part: string): string => encodeURIComponent(part.toWellFormed());
const ascii = (text: string): string => text.replace(/[^\x20-\x7e\xa0-\xff]/g, '').trim();

/** Sends a plan and returns what was sent and answered. `rowsMax` limits the rows read. */
export async function send(
  w: World,
  { method, path: template, operation }: Target,
  plan: Plan,
  { owner }: Cast,
  rowsMax: number,
  onText: (text: string) => void,
): Promise<Sent> {
  const { merchant } = owner;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encode(plan.params[name] ?? 'x') || '%20');
  const isSandboxToken = plan.caller === 'sandboxToken';
  const query = [...plan.query, ...(isSandboxToken ? [['mode', 'sandbox'] as const] : [])];
  const search = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  const url = search ? `${path}?${search}` : path;
  const headers: Record<string, string> = Object.fromEntries(Object.entries(plan.headers).map(([name, value]) => [name, ascii(value)]));
  const credentials: Record<Caller, Record<string, string>> = {
    key: { 'X-Svc-Key': merchant.key },
    token: { Authorization: `Bearer ${merchant.token}` },
    sandboxToken: { Authorization: `Bearer ${merchant.token}` },
    sandboxKey: { 'X-Svc-Key': merchant.sandboxKey },
    readKey: { 'X-Svc-Key': owner.readKey },
    executeKey: { 'X-Svc-Key': owner.executeKey },
    nobody: {},
    garbage: { Authorization: 'Bearer garbage' },
  };
  Object.assign(headers, credentials[plan.caller]);
  // Emails per address are limited on every machine, so each call uses a new address.
  if (/email\/verification$|password\/forgot$/.test(template)) headers['CF-Connecting-IP'] = strangerAddress();
  const [, wire] = plan.wire;
  const text = plan.body === undefined ? '' : JSON.stringify(spoil(plan.body, plan.spoilings) ?? null);
  const raw = text === '' ? null : wire.bytes(text);
  if (raw !== null && wire.contentType !== null) headers['Content-Type'] = wire.contentType;
  Object.assign(headers, secretsOf(w, operation, plan, typeof raw === 'string' ? utf8(raw) : ((raw ?? new Uint8Array()) as Uint8Array)));
  onText(`${decodeURIComponent(url)} ${JSON.stringify(headers)} ${text}`);
  const answer = await w.call(method, url, { headers, ...(raw === null ? {} : { raw }), rowsMax });
  const isSandbox = plan.caller === 'sandboxKey' || isSandboxToken || (plan.caller === 'token' && /[?&]mode=sandbox/.test(url));
  const isAccount = plan.caller !== 'nobody' && plan.caller !== 'garbage' && operation.security !== undefined;
  const isKnownCaller = isAccount || template.includes('{setup_intent_id}');
  return { isSandbox, isKnownCaller, answer };
}

function processorSignature(w: World, raw: Uint8Array): string {
  const [secret] = String(w.env.PROCESSOR_WEBHOOK_SECRETS).split(',');
  const at = Math.floor(Date.now() / 1000);
  const signed = Uint8Array.from([...utf8(`${at}.`), ...raw]);
  return `t=${at},v1=${hex.encode(hmacSha256(utf8(secret!), signed))}`;
}

/** Credentials of providers and connectors. Left out if the plan's caller is garbage. */
function secretsOf(w: World, operation: Operation, { caller, params }: Plan, raw: Uint8Array): Record<string, string> {
  if (caller === 'garbage') return {};
  const provider = params.provider === 'discord' ? 'discord' : 'telegram';
  const secret = String(w.env.RPC_WEBHOOK_SECRET ?? '');
  return {
    ...(takes(operation, 'connectorSecret') ? { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS[provider][0] } : {}),
    ...(takes(operation, 'mailSignature') ? svixHeaders(raw) : {}),
    ...(takes(operation, 'processorSignature') ? { 'Processor-Signature': processorSignature(w, raw) } : {}),
    ...(takes(operation, 'chainSignature') ? { 'X-Rpc-Signature': hex.encode(hmacSha256(utf8(secret), raw)) } : {}),
  };
}
