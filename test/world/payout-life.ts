import { expect } from 'vitest';
import type { ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { skipTime } from './clock.ts';
import { LiveShop } from './live-channel.ts';
import type { Merchant, World } from './world.ts';

/** Channels that stand for long, and what the service finds out about them by looking. */
export function payoutLife(w: World, program: ChannelProgram) {
  const open = async (merchant?: Merchant): Promise<LiveShop> => {
    const shop = await LiveShop.make(w, { program, body: { idle_timeout_seconds: 86_400 }, ...(merchant ? { merchant } : {}) });
    await shop.authorize(await shop.pull());
    await shop.project();
    return shop;
  };
  const sweep = async (...shops: LiveShop[]) => {
    for (const shop of shops) await shop.project();
    await skipTime(w.chain, 60);
    for (const shop of shops) await shop.watch();
  };
  /** Long after the end, when nothing more can come of it. */
  const leave = async (shop: LiveShop) => {
    await shop.project();
    for (let look = 0; look < 4; look++) {
      await skipTime(w.chain, 960);
      await sweep(shop);
    }
    const sql = 'SELECT next_look_at AS at FROM metered_sessions WHERE id = ?';
    expect(await w.env.DB.prepare(sql).bind(shop.session.session_id).first('at')).toBeNull();
  };
  const unitsOf = async (shop: LiveShop) => (await shop.payments()).map(({ units }) => units);
  return { open, sweep, leave, unitsOf };
}
