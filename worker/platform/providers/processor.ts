import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { PaidPlan } from '#rules/plans.ts';
import type { Config } from '../config.ts';

export const PRICE_NAMES = {
  starter: 'PROCESSOR_PRICE_STARTER',
  growth: 'PROCESSOR_PRICE_GROWTH',
  scale: 'PROCESSOR_PRICE_SCALE',
} as const satisfies Record<PaidPlan, keyof Config>;

export const missingForProcessor = (config: Config): string[] =>
  (['PROCESSOR_API_KEY', 'PROCESSOR_WEBHOOK_SECRETS', ...Object.values(PRICE_NAMES)] as const).filter((name) => config[name] === undefined);

const TIMEOUT_MS = 3 * SECOND;
const HEALTH_CACHE_MS = MINUTE;
const health = new Memory<string, { isHealthy: boolean; at: number }>(100);

/** True if the payment processor answers and accepts our key for reads. Mostly cached, because the health check is public. */
export async function isProcessorHealthy(apiUrl: string, apiKey: string, now: number): Promise<boolean> {
  const asked = `${apiUrl} ${apiKey}`;
  const known = health.get(asked);
  if (known && now - known.at < HEALTH_CACHE_MS) return known.isHealthy;
  const answered = await fetch(new URL('/v1/subscriptions?limit=1', apiUrl), {
    headers: { authorization: `Bearer ${apiKey}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).then(
    async (response) => {
      await response.body?.cancel();
      // A rate limit proves that the processor answers.
      return response.ok || response.status === 429;
    },
    () => false,
  );
  health.set(asked, { isHealthy: answered, at: now });
  return answered;
}
