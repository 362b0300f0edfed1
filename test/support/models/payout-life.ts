import { expect } from 'vitest';
import { base64 } from '#core/encoding.ts';
import type { ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { CLOCK_SECONDS, CLOCK_SYSVAR } from '#solana/signature-list.ts';
import { LiveShop } from '../chain/live-channel.ts';
import { skipTime } from '../runner/clock.ts';
import type { Merchant, World } from '../world.ts';

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
  /** Leaves a channel until long after its end, when nothing more can happen. */
  const leave = async (shop: LiveShop) => {
    await shop.project();
    for (let round = 0; round < 4; round++) {
      await skipTime(w.chain, 960);
      await sweep(shop);
    }
    const sql = 'SELECT next_check_at AS at FROM metered_sessions WHERE id = ?';
    expect(await w.env.DB.prepare(sql).bind(shop.session.session_id).first('at')).toBeNull();
  };
  /** Waits for a new minute of the chain, so that transactions sent within seconds share one minute. */
  const beginMinute = async () => {
    const { value } = await w.chain.call<{ value: { data: [string] } }>('getAccountInfo', CLOCK_SYSVAR, { encoding: 'base64' });
    const seconds = Number(new DataView(base64.decode(value.data[0]).buffer).getBigInt64(CLOCK_SECONDS.offset, true));
    await skipTime(w.chain, 60 - (seconds % 60));
  };
  const readUnits = async (shop: LiveShop) => (await shop.payments()).map(({ units }) => units);
  return { open, sweep, leave, beginMinute, unitsOf: readUnits };
}
