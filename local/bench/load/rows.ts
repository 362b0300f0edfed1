import { generateKeyPairSync, sign } from 'node:crypto';
import { base58 } from '#core/encoding.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { encodeVoucher } from '#solana/programs/payment-channels/vouchers.ts';
import { requestText } from './client.ts';
import type { Sample } from './load.ts';
import type { Server } from './processes.ts';

export interface Target extends Server {
  rawKey: string;
  /** Key with a scope, an end and a network. The peer has none. */
  narrowedKey?: string;
  productId: string;
}

export type TargetName = 'workerd' | 'peer';

export interface Row {
  id: string;
  name: string;
  target: TargetName;
  path: string;
  counters: 0 | 1 | 64;
  units: number;
  /** Sends the same Idempotency-Key always: one use, then stored answers. */
  isReplay?: true;
  isUngrouped?: true;
  isMetered?: true;
  isNarrowed?: true;
}

const CONSUME = '/v1/access/entitlements/consume';
const none = { counters: 0, units: 0 } as const;
const one = { counters: 1, units: 1 } as const;
const many = { counters: 64, units: 1 } as const;
const workerd = { target: 'workerd' } as const;
const peer = { target: 'peer' } as const;

export const ROWS: readonly Row[] = [
  { id: 'empty', name: 'empty Hono route', ...workerd, ...none, path: '/bench/empty' },
  { id: 'bare', name: 'bare object call', ...workerd, ...none, path: '/bench/bare' },
  { id: 'bareWrite', name: 'bare object call, one durable write', ...workerd, ...none, path: '/bench/bare-write' },
  { id: 'admitted', name: 'admission alone', ...workerd, ...none, path: '/bench/admit' },
  { id: 'straight', name: 'consume without auth, 1 object', ...workerd, ...one, path: '/bench/consume' },
  { id: 'ungrouped', name: '  the same, group commit off', ...workerd, ...one, path: '/bench/consume-ungrouped', isUngrouped: true },
  { id: 'straight64', name: 'consume without auth, 64 objects', ...workerd, ...many, path: '/bench/consume' },
  { id: 'authed', name: 'consume with key, 1 object', ...workerd, ...one, path: CONSUME },
  { id: 'narrowed', name: '  the same, with a narrowed key', ...workerd, ...one, path: CONSUME, isNarrowed: true },
  { id: 'byRoute', name: '  the same, by the whole route', ...workerd, ...one, path: `${CONSUME}?mode=live` },
  { id: 'authed64', name: 'consume with key, 64 objects', ...workerd, ...many, path: CONSUME },
  { id: 'replayed', name: 'replayed consume with key', ...workerd, ...one, path: CONSUME, isReplay: true },
  { id: 'hundred', name: '100 units in one call, with key', ...workerd, ...one, units: 100, path: CONSUME },
  { id: 'metered', name: 'metered: announce or commit, 1 session a client', ...workerd, ...none, path: '', isMetered: true },
  { id: 'peerEmpty', name: 'peer: empty Hono route on Node', ...peer, ...none, path: '/bench/empty' },
  { id: 'peer', name: 'peer: consume with key, 1 counter', ...peer, ...one, path: CONSUME },
  { id: 'peerMemory', name: '  the same, rate counted in Node', ...peer, ...one, path: `/memory${CONSUME}` },
  { id: 'peer64', name: 'peer: consume with key, 64 counters', ...peer, ...many, path: CONSUME },
  { id: 'peerMemory64', name: '  the same, rate counted in Node', ...peer, ...many, path: `/memory${CONSUME}` },
  { id: 'peerReplayed', name: 'peer: replayed consume', ...peer, ...one, path: CONSUME, isReplay: true },
];

async function post<T>(port: number, path: string, body: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

export async function setUp(server: Server): Promise<Target> {
  return { ...server, ...(await post<Pick<Target, 'rawKey' | 'narrowedKey' | 'productId'>>(server.port, '/bench/account', {})) };
}

interface Prepared {
  request(index: number, client: number): string;
  check(sample: Sample): Promise<void>;
  /** Returns the calls and writes of the sample's objects. Null if the server does not count. */
  spent(): Promise<Spent | null>;
}

/** Costs of entitlement objects: calls, consumes in them, and rows written as billed. */
interface Spent {
  calls: number;
  uses: number;
  rows: number;
}

interface SampleOf {
  name: string;
  clients: number;
}

export async function prepare(row: Row, target: Target, { name: sampleName, clients }: SampleOf): Promise<Prepared> {
  if (row.isMetered) return prepareMetered(row, target, clients);
  if (row.counters === 0) {
    const text = requestText('GET', row.path);
    return { request: () => text, check: async () => {}, spent: async () => null };
  }
  const customerRefs = Array.from({ length: row.counters }, (_, i) => `${sampleName}-${i}`);
  const counters = { customerRefs, isGrouped: !row.isUngrouped };
  await post(target.port, '/bench/grant', counters);
  const texts = customerRefs.map((ref) => {
    const body = JSON.stringify({ product_id: target.productId, customer: { customer_ref: ref }, units: row.units });
    const credential: Record<string, string> = row.isNarrowed
      ? { 'X-Svc-Key': target.narrowedKey!, 'CF-Connecting-IP': '203.0.113.9' }
      : { 'X-Svc-Key': target.rawKey };
    return requestText('POST', row.path, { ...credential, 'Idempotency-Key': '@' }, body).split('@') as [string, string];
  });
  return {
    request: (index) => {
      const [head, tail] = texts[index % texts.length]!;
      return `${head}${sampleName}-${row.isReplay ? 0 : index}${tail}`;
    },
    spent: async () => (row.target === 'workerd' ? post<Spent>(target.port, '/bench/spent', counters) : null),
    check: async ({ answered }) => {
      const { used } = await post<{ used: number }>(target.port, '/bench/used', counters);
      const expected = row.isReplay ? row.units : answered * row.units;
      if (used !== expected) throw new Error(`${row.name}: ${expected} units were answered, ${used} were used`);
    },
  };
}

interface BenchSession {
  sessionId: string;
  channelId: string;
}

/** Length of the raw key at the end of an Ed25519 key in DER. */
const KEY_BYTES = 32;
const NEVER = 4_102_444_800;
const AMOUNT = 1;

/** Opens a session for each client, which announces a use and then pays for it as the public client does. A session has one buyer. */
async function prepareMetered(row: Row, target: Target, clients: number): Promise<Prepared> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const signer = base58.encode(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)));
  const sessions = await post<BenchSession[]>(target.port, '/bench/sessions', { count: clients, signer });
  const sent = sessions.map(() => 0);
  const announced = ({ channelId }: BenchSession, deliveryId: string) =>
    requestText('POST', '/__402/session/deliveries', {}, JSON.stringify({ amount: `${AMOUNT}`, deliveryId, sessionId: channelId }));
  const committed = ({ sessionId, channelId }: BenchSession, deliveryId: string, cumulative: number) => {
    const said = { channelId: channelId as never, cumulativeAmount: BigInt(cumulative), expiresAt: BigInt(NEVER) };
    const signature = base58.encode(new Uint8Array(sign(null, encodeVoucher(CHANNEL_PROGRAMS.older, said), privateKey)));
    const voucher = { data: { channelId, cumulativeAmount: `${cumulative}`, expiresAt: NEVER }, signature };
    return requestText('POST', `/v1/access/metered-sessions/${sessionId}/commits`, {}, JSON.stringify({ deliveryId, voucher }));
  };
  return {
    request: (_, client) => {
      const session = sessions[client]!;
      const step = sent[client]!++;
      const use = Math.floor(step / 2) + 1;
      return step % 2 === 0 ? announced(session, `use-${use}`) : committed(session, `use-${use}`, use * AMOUNT);
    },
    spent: async () => null,
    check: async () => {
      const { promised } = await post<{ promised: number }>(target.port, '/bench/promised', sessions);
      const expected = sent.reduce((sum, steps) => sum + Math.floor(steps / 2) * AMOUNT, 0);
      if (promised !== expected) throw new Error(`${row.name}: ${expected} units were paid for, ${promised} are promised`);
    },
  };
}
