import type { Counts } from './metrics.ts';

/** Upper bounds (ms) of the histogram classes of endpoint response times. One more class holds slower answers. */
export const ANSWER_MS = [10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 15_000] as const;

export const answerClassOf = (ms: number): number => {
  const found = ANSWER_MS.findIndex((bound) => ms <= bound);
  return found < 0 ? ANSWER_MS.length : found;
};

/** Counts of a finished delivery. `answerClass` is null if the endpoint never answered. */
export const deliveryCounts = (hasSucceeded: boolean, answerClass: number | null): Counts => ({
  deliveries: 1n,
  ...(hasSucceeded ? { delivered: 1n } : {}),
  ...(answerClass === null ? {} : { [`answers_${answerClass}`]: 1n }),
});

export function p95Of(counts: Counts): number | null {
  const classes = Array.from({ length: ANSWER_MS.length + 1 }, (_, i) => counts[`answers_${i}`] ?? 0n);
  const all = classes.reduce((sum, count) => sum + count, 0n);
  if (all === 0n) return null;
  const upTo = (index: number): bigint => classes.slice(0, index + 1).reduce((sum, count) => sum + count, 0n);
  const index = classes.findIndex((_, i) => upTo(i) * 100n >= all * 95n);
  return ANSWER_MS[Math.min(index, ANSWER_MS.length - 1)]!;
}
