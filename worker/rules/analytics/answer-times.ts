import type { Counts } from './metrics.ts';

/** Milliseconds up to which an answer of an endpoint falls into each class; what took longer is in one more. */
export const ANSWER_MS = [10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 15_000] as const;

/** The class of an answer by the time it took. */
export const answerClassOf = (ms: number): number => {
  const found = ANSWER_MS.findIndex((bound) => ms <= bound);
  return found < 0 ? ANSWER_MS.length : found;
};

/** A delivery that ended: whether the endpoint took it, and how long its last answer took (ms); null: it never answered. */
export const deliveryCounts = (hasSucceeded: boolean, answerClass: number | null): Counts => ({
  deliveries: 1n,
  ...(hasSucceeded ? { delivered: 1n } : {}),
  ...(answerClass === null ? {} : { [`answers_${answerClass}`]: 1n }),
});

/** The bound under which 95 of 100 answers lie; null where there was none. */
export function p95Of(counts: Counts): number | null {
  const classes = Array.from({ length: ANSWER_MS.length + 1 }, (_, i) => counts[`answers_${i}`] ?? 0n);
  const all = classes.reduce((sum, count) => sum + count, 0n);
  if (all === 0n) return null;
  const upTo = (index: number): bigint => classes.slice(0, index + 1).reduce((sum, count) => sum + count, 0n);
  const index = classes.findIndex((_, i) => upTo(i) * 100n >= all * 95n);
  return ANSWER_MS[Math.min(index, ANSWER_MS.length - 1)]!;
}
