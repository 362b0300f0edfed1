import { JOURNEY_CLIENTS } from './journeys/journeys.ts';
import { WITH_LIVE_CLIENTS } from './journeys/with-live.ts';
import { type Measured, ratioOf, typical } from './load/measure.ts';

export interface Aim {
  text: string;
  bound: { atLeast: number } | { atMost: number };
  ratio: number | null;
}

const UNITS_IN_ONE_CALL = 100;

export function judgeAims(measured: Measured[]): Aim[] {
  const ratio = (above: string, below: string, clients: number) => ratioOf(measured, [above, below], clients);
  const inOneCall = ratio('hundred', 'authed', 32);
  const hot = measured.find(({ row, clients }) => row.id === 'authed' && clients === 32);
  const cpu = hot && typical(hot).cpuMicros;
  const latency = (peer: string) => ratioOf(measured, ['authed', peer], 1, ({ p50 }) => p50);
  return [
    {
      text: 'one hot counter, with key: calls/s against the peer, 32 clients',
      bound: { atLeast: 1.2 },
      ratio: ratio('authed', 'peer', 32),
    },
    {
      text: 'one hot counter, with key: calls/s against the peer, 128 clients',
      bound: { atLeast: 1.25 },
      ratio: ratio('authed', 'peer', 128),
    },
    { text: 'one hot counter, with key: median latency against the peer, 1 client', bound: { atMost: 1.7 }, ratio: latency('peer') },
    {
      text: '64 counters, with key: calls/s against the peer, 32 clients',
      bound: { atLeast: 0.35 },
      ratio: ratio('authed64', 'peer64', 32),
    },
    { text: 'one hot counter, with key: microseconds of processor time a call, 32 clients', bound: { atMost: 400 }, ratio: cpu ?? null },
    { text: 'group commit against none, 32 clients', bound: { atLeast: 2 }, ratio: ratio('straight', 'ungrouped', 32) },
    {
      text: 'units/s of 100 units in one call against single calls, 32 clients',
      bound: { atLeast: 90 },
      ratio: inOneCall === null ? null : inOneCall * UNITS_IN_ONE_CALL,
    },
    { text: 'consume with key against consume without auth, 32 clients', bound: { atLeast: 0.6 }, ratio: ratio('authed', 'straight', 32) },
    {
      text: 'consume with a narrowed key against one without restrictions, 32 clients',
      bound: { atLeast: 0.98 },
      ratio: ratio('narrowed', 'authed', 32),
    },
    {
      text: 'median of a read with a token against the same with a key',
      bound: { atMost: 1.05 },
      ratio: ratioOf(measured, ['readByToken', 'readByKey'], JOURNEY_CLIENTS, ({ p50 }) => p50),
    },
    {
      text: 'uses of metered sessions, announced and paid for, against consume without auth, 32 clients',
      bound: { atLeast: 0.6 },
      ratio: ratio('metered', 'straight', 32),
    },
    {
      text: 'p99 of a live consume during sandbox sessions against alone',
      bound: { atMost: 1.5 },
      ratio: ratioOf(measured, ['liveBeside', 'liveAlone'], WITH_LIVE_CLIENTS, ({ p99 }) => p99),
    },
  ];
}

/** Returns ratios without a goal, for comparison. */
export function otherRatios(measured: Measured[]): { text: string; ratio: number | null }[] {
  const ratio = (above: string, below: string, clients: number) => ratioOf(measured, [above, below], clients);
  const inMemory = 'the peer that counts rates in its one process';
  return [
    { text: `one hot counter, with key, against ${inMemory}, 32 clients`, ratio: ratio('authed', 'peerMemory', 32) },
    { text: `one hot counter, with key, against ${inMemory}, 128 clients`, ratio: ratio('authed', 'peerMemory', 128) },
    { text: `64 counters, with key, against ${inMemory}, 32 clients`, ratio: ratio('authed64', 'peerMemory64', 32) },
    { text: '64 objects against 1, with key, 32 clients', ratio: ratio('authed64', 'authed', 32) },
    { text: 'the short way against the whole route, with key, 32 clients', ratio: ratio('authed', 'byRoute', 32) },
    // A session has an object of its own and one buyer, so its commits are not grouped with others.
    { text: 'uses of metered sessions against consume without auth, 64 objects, 32 clients', ratio: ratio('metered', 'straight64', 32) },
    { text: 'replayed against first consume, with key, 32 clients', ratio: ratio('replayed', 'authed', 32) },
    { text: 'bare object call against empty route, 32 clients', ratio: ratio('bare', 'empty', 32) },
    { text: 'consume without auth against bare durable write, 32 clients', ratio: ratio('straight', 'bareWrite', 32) },
  ];
}

export const isMet = ({ bound, ratio }: Aim): boolean | null =>
  ratio === null ? null : 'atLeast' in bound ? ratio >= bound.atLeast : ratio <= bound.atMost;
