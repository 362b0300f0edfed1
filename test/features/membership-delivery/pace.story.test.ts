import { afterEach, describe, expect, it, vi } from 'vitest';
import { Pace } from '#platform/providers/messaging/pace.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import wranglerToml from '../../../wrangler.toml?raw';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';

describe('Pace of platform calls', () => {
  it('a pause requested by the platform also holds waiting calls, and spreads them afterwards', async () => {
    let now = 1000;
    const wakes: { at: number; wake: () => void }[] = [];
    const pace = new Pace((ms) => new Promise((wake) => wakes.push({ at: now + ms, wake: () => wake(null) })));
    const clock = { now: () => now, leftMs: () => 60_000 };
    const turns: number[] = [];
    const calls = [1, 2, 3].map(async () => {
      expect(await pace.turn(clock)).toBeNull();
      turns.push(now);
    });
    await Promise.resolve();
    pace.hold(now, 10);
    while (turns.length < 3) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      const next = wakes.sort((one, other) => one.at - other.at).shift();
      if (!next) continue;
      now = next.at;
      next.wake();
    }
    await Promise.all(calls);
    expect(turns).toEqual([1000, 11_000, 11_040]);
  });

  it('a caller with less time than the pause gets the remaining wait and does not pass', async () => {
    const pace = new Pace(() => Promise.reject(new Error('nobody waits that long')));
    pace.hold(0, 20);
    expect(await pace.turn({ now: () => 5000, leftMs: () => 14_999 })).toBe(15_000);
  });

  it('wrangler.toml binds each platform’s queue to one consumer at a time', () => {
    for (const provider of IDENTITY_PROVIDERS) {
      const [producer, consumer] = ['producers', 'consumers'].map(
        (kind) =>
          wranglerToml
            .split(/^(?=\[)/m)
            .find((part) => part.startsWith(`[[queues.${kind}]]`) && part.includes(`queue = "svc-${provider}"`)) ?? '',
      );
      expect(producer).toContain(`binding = "${provider.toUpperCase()}"`);
      expect(consumer).toMatch(/^max_concurrency = 1$/m);
    }
  });
});

describe('first platform check', () => {
  afterEach(() => testEnv.DB.prepare('DELETE FROM platform_checks').run());

  it('concurrent tests of a platform share one check and its answer', async () => {
    const w = new MembersWorld();
    const [ada, bea] = [await w.merchant(), await w.merchant()];
    const test = ({ key }: { key: string }) => w.call('POST', '/v1/account/delivery/test', { key, body: { provider: 'telegram' } });
    const real = globalThis.fetch;
    let second: ReturnType<typeof test> | undefined;
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (String(input).endsWith('/getMe')) {
        second ??= test(bea);
        await scheduler.wait(300);
      }
      return real(input, init);
    });
    const answers = [await test(ada), await second!];
    spy.mockRestore();
    expect(answers.map(({ body }) => [body.ok, body.detail])).toEqual(Array(2).fill([true, 'The bot answers.']));
    expect((await w.telegram()).calls.map(({ name }) => name)).toEqual(['getMe']);
  });
});
