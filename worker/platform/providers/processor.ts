import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { PaidPlan } from '#rules/plans.ts';
import type { Config } from '../config.ts';

/** The variable that holds the processor's price of each plan. */
export const PRICE_NAMES = {
  starter: 'PROCESSOR_PRICE_STARTER',
  growth: 'PROCESSOR_PRICE_GROWTH',
  scale: 'PROCESSOR_PRICE_SCALE',
} as const satisfies Record<PaidPlan, keyof Config>;

/** Variables without which nothing is billed by the processor, by their names; none where all are there. */
export const missingForProcessor = (config: Config): string[] =>
  (['PROCESSOR_API_KEY', 'PROCESSOR_WEBHOOK_SECRETS', ...Object.values(PRICE_NAMES)] as const).filter((name) => config[name] === undefined);

const TIMEOUT_MS = 3 * SECOND;
const KEPT_MS = MINUTE;
/** By its address and key: whether it answered, and when it was asked. */
const health = new Memory<string, { isHealthy: boolean; at: number }>(100);

/**
 * Whether the payment processor answers, and takes our key for what is read of it. The health check is public, so the answer comes
 * from memory most of the time.
 */
export async function isProcessorHealthy(apiUrl: string, apiKey: string, now: number): Promise<boolean> {
  const asked = `${apiUrl} ${apiKey}`;
  const known = health.get(asked);
  if (known && now - known.at < KEPT_MS) return known.isHealthy;
  const answered = await fetch(new URL('/v1/subscriptions?limit=1', apiUrl), {
    headers: { authorization: `Bearer ${apiKey}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).then(
    async (response) => {
      await response.body?.cancel();
      // Asked too often it is well all the same.
      return response.ok || response.status === 429;
    },
    () => false,
  );
  health.set(asked, { isHealthy: answered, at: now });
  return answered;
}
