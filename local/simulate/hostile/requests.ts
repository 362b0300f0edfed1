import type { CallOptions } from '../book/host.ts';
import type { Dice } from '../world/outside/dice.ts';
import type { Known, Shapes, Target } from './shapes.ts';
import { hostileText, hostileValue, spoilBody, wireOf } from './spoil.ts';
import type { Pool, Tenant } from './tenant.ts';

export interface Sent {
  target: Target;
  method: string;
  path: string;
  options: CallOptions;
  caller: string;
  /** Everything that the request says, as one text. */
  text: string;
}

/** Sender of requests, and the victim of the ids that they name. */
export interface Cast {
  attacker: Tenant;
  victim: Tenant;
  operatorSecret: string;
}

/** Fields and parameters with another name for an equal value. */
const ALIASES: Record<string, string> = {
  wallet: 'wallet_address',
  payer_wallet: 'wallet_address',
  account: 'wallet_address',
  token: 'handoff_token',
  tx_sig: 'tx_signature',
  replace_live_key_id: 'key_id',
};

const FREE: Record<string, readonly string[]> = {
  provider: ['telegram', 'discord', 'google', 'github', 'processor', 'resend'],
  rail_id: ['solana_usdc', 'solana_sol', 'solana_x402', 'solana_subscription'],
  asset: ['USDC', 'USDC', 'SOL'],
  amount: ['1', '0.01', '0.000001', '18446744073709551615', '0'],
  mode: ['live', 'sandbox'],
  event_type: ['*', 'payment.confirmed'],
  transaction: ['AAAA', 'AQ=='],
  setup_secret: ['x'],
};

const NOWHERE = '01900000-0000-7000-8000-000000000000';
const IDEMPOTENCY_KEYS = ['the-same-key', 'x', 'x'.repeat(256), 'a b c', 'schlüssel', '', ' '];
const CALLERS = [
  'nobody',
  'live key',
  'sandbox key',
  'token',
  'sandbox token',
  'read key',
  'execute key',
  'revoked key',
  'forged key',
  'garbage',
  'operator',
  'key next to a bad token',
] as const;
type CallerKind = (typeof CALLERS)[number];

function credentialsOf(kind: CallerKind, { attacker, victim, operatorSecret }: Cast): Record<string, string> {
  const { shop, readKey, executeKey, revokedKey } = attacker;
  const bearer = { Authorization: `Bearer ${shop.token}` };
  const headers: Record<CallerKind, Record<string, string>> = {
    nobody: {},
    'live key': { 'X-Svc-Key': shop.liveKey },
    'sandbox key': { 'X-Svc-Key': shop.sandboxKey },
    token: bearer,
    'sandbox token': { ...bearer, 'X-Svc-Mode': 'sandbox' },
    'read key': { 'X-Svc-Key': readKey },
    'execute key': { 'X-Svc-Key': executeKey },
    'revoked key': { 'X-Svc-Key': revokedKey },
    // The victim's key with another end: a lookup by its beginning must not admit it.
    'forged key': { 'X-Svc-Key': `${victim.shop.liveKey.slice(0, -4)}AAAA` },
    garbage: { Authorization: 'Bearer garbage', 'X-Svc-Key': 'svc_live_' },
    operator: { 'X-Svc-Operator-Secret': operatorSecret.slice(1) },
    'key next to a bad token': { 'X-Svc-Key': shop.liveKey, Authorization: 'Bearer eyJ.eyJ.x' },
  };
  return headers[kind];
}

function callerOf({ schemes }: Target, dice: Dice): CallerKind {
  if (dice.chance(0.3)) return dice.oneOf(CALLERS);
  const wanted: CallerKind[] = [
    ...(schemes.includes('apiKey') ? (['live key', 'live key', 'sandbox key'] as const) : []),
    ...(schemes.includes('bearer') ? (['token', 'sandbox token'] as const) : []),
  ];
  return wanted.length > 0 ? dice.oneOf(wanted) : 'nobody';
}

/** Values by name: mostly of the attacker, or of the victim. */
function knownOf({ attacker, victim }: Cast, dice: Dice): Known {
  const ofPool = (pool: Pool, name: string) => {
    const values = pool.get(name) ?? [];
    return values.length === 0 ? undefined : dice.oneOf(values);
  };
  return (given) => {
    const name = ALIASES[given] ?? given;
    const pick = dice.below(10);
    const own = pick < 5 ? ofPool(attacker.pool, name) : pick < 9 ? ofPool(victim.pool, name) : undefined;
    if (own !== undefined) return own;
    if (FREE[name]) return dice.oneOf(FREE[name]);
    return name.endsWith('_id') ? NOWHERE : undefined;
  };
}

const encode = (part: string): string => encodeURIComponent(part.toWellFormed());
/** Characters that a client can put into a header. */
const headerText = (text: string): string => text.replace(/[^\x20-\x7e\xa0-\xff]/g, '').trim();

/** Draws one request to a route of the document. */
export function drawRequest(shapes: Shapes, cast: Cast, dice: Dice): Sent {
  const target = dice.oneOf(shapes.targets);
  const known = knownOf(cast, dice);
  const draw = ({ schema = {}, name }: Target['parameters'][number]) =>
    dice.chance(0.1) ? hostileText(dice) : String(shapes.valueOf(schema, dice, known, name));
  const located = (where: string) => target.parameters.filter((one) => one.in === where);
  const params = new Map(located('path').map((one) => [one.name, draw(one)]));
  const filled = target.template.replace(/\{(\w+)\}/g, (_, name: string) => encode(params.get(name) ?? 'x').replace(/^\.{0,2}$/, '%20'));
  const query: [string, string][] = located('query').flatMap((one) =>
    dice.chance(0.35) ? [[one.name, draw(one)] as [string, string]] : [],
  );
  if (dice.chance(0.1)) query.push([dice.oneOf(['page', 'per_page', 'mode', 'limit', 'after', 'q[]', '__proto__']), hostileText(dice)]);
  if (query.length > 0 && dice.chance(0.05)) query.push(query[0]!);
  const caller = callerOf(target, dice);
  const headers: Record<string, string> = { 'cf-connecting-ip': `10.${dice.below(256)}.${dice.below(256)}.${dice.below(256)}` };
  for (const one of located('header')) {
    if (one.name !== 'Idempotency-Key' && dice.chance(0.7)) headers[one.name] = headerText(draw(one));
  }
  if (target.method !== 'GET') headers['Idempotency-Key'] = headerText(dice.chance(0.85) ? dice.key() : dice.oneOf(IDEMPOTENCY_KEYS));
  if (dice.chance(0.05))
    headers[dice.oneOf(['PAYMENT-SIGNATURE', 'Authorization', 'X-Svc-Key', 'Accept', 'Content-Length', 'Origin', 'Cookie'])] = headerText(
      hostileText(dice),
    );
  Object.assign(headers, credentialsOf(caller, cast));
  const path = filled + (query.length > 0 ? `?${query.map((pair) => pair.map(encode).join('=')).join('&')}` : '');
  const options: CallOptions = { headers };
  if (target.method !== 'GET') {
    const body = drawBody(shapes, target, dice, known);
    const wire = wireOf(dice);
    const raw = body === undefined ? null : wire.encode(JSON.stringify(body) ?? 'null');
    if (raw !== null) Object.assign(options, { raw });
    if (raw !== null && wire.type !== null) headers['content-type'] = wire.type;
  }
  const said = options.raw === undefined ? '' : typeof options.raw === 'string' ? options.raw : Buffer.from(options.raw).toString('latin1');
  return {
    target,
    method: target.method,
    path,
    options,
    caller,
    text: `${decodeURIComponent(path.replace(/%(?![0-9A-F]{2})/gi, '%25'))} ${JSON.stringify(headers)} ${said}`,
  };
}

function drawBody(shapes: Shapes, { body }: Target, dice: Dice, known: Known): unknown {
  if (body === undefined) return dice.chance(0.2) ? hostileValue(dice) : undefined;
  const made = shapes.valueOf(body, dice, known);
  return dice.chance(0.5) ? spoilBody(dice, made) : made;
}

/** The request as a command, for who reads a finding. */
export function toCurl({ method, path, options: { headers = {}, raw } }: Sent): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const body = raw === undefined ? '' : typeof raw === 'string' ? raw : Buffer.from(raw).toString('latin1');
  const parts = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  if (body !== '')
    parts.push(`--data-binary ${quote(body.length > 2_000 ? `${body.slice(0, 2_000)}… (${body.length} characters)` : body)}`);
  return `curl -X ${method} ${quote(`https://svc.test${path}`)} ${parts.join(' ')}`;
}
