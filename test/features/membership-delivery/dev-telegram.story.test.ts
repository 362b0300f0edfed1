import { beforeAll, describe, expect, it } from 'vitest';
import { DevTelegram } from '../../support/clients/dev-telegram.ts';
import { MembersWorld } from '../../support/people/members.ts';
import type { Merchant } from '../../support/world.ts';

const CHAT = '-1005';

describe('/dev/telegram', () => {
  const w = new MembersWorld({ DEMO_WALLET: 'true' });
  const screen = new DevTelegram(w);
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('the page posts a code, starts the bot for a buyer, and shows the invitation and who used it', async () => {
    const begun = await w.call('POST', '/v1/account/delivery/claims', { key: ada.key, body: { provider: 'telegram' } });
    const claimed = await screen.act({ act: 'post', chat: CHAT, text: `Here it is: ${begun.body.code}` });
    expect(claimed).toContain(`The chat ${CHAT} is claimed.`);
    const club = await w.club(ada, { provider: 'telegram', chat_id: CHAT });
    const opened = await w.call('POST', `/v1/products/p/${club.slug}/identity`);
    const started = await screen.act({ act: 'start', link: opened.body.deep_link, user: '4712', username: 'grace' });
    expect(started).toContain('The service knows that 4712 (grace) came.');
    const { body: payment } = await w.call('POST', `/v1/products/p/${club.slug}/connect`, {
      body: { identity_session_id: opened.body.identity_session_id },
    });
    await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
    await w.settleDown();
    const shown = await screen.read();
    const link = /https:\/\/t\.me\/\+[\w-]+/.exec(shown)![0];
    expect(shown).toContain('To 4712');
    await screen.act({ act: 'join', link, user: '4712' });
    expect(await screen.read()).toMatch(new RegExp(`Chat ${CHAT}[^]*Members: 4712`));
  });

  it('the page shows the service’s error if an action fails', async () => {
    expect(await screen.act({ act: 'post', chat: CHAT, text: 'claim-aaaaaaaaaaaaaaaaaaaaaaaa' })).toContain('The object does not exist');
    expect(await screen.act({ act: 'post', chat: CHAT, text: 'hello' })).toContain('There is no code in this text.');
    const nobody = '01900000-0000-7000-8000-000000000000';
    expect(await screen.act({ act: 'start', link: nobody, user: '1', username: '' })).toContain('The identity session is unknown.');
    expect(await screen.act({ act: 'start', link: nobody, user: 'x', username: '' })).toContain('A user id is 1 to 20 digits.');
  });

  it('the page exists only on a local machine and refuses forms of another origin', async () => {
    expect((await new MembersWorld().call('GET', '/dev/telegram')).status).toBe(404);
    expect((await new MembersWorld({ DEMO_WALLET: 'true', RPC_URL: 'https://127.0.0.2:1' }).call('GET', '/dev/telegram')).status).toBe(404);
    expect((await screen.send({ act: 'join', link: 'x', user: '1' }, 'https://evil.example')).status).toBe(403);
  });

  it('the page names the command that starts Telegram if none runs', async () => {
    const alone = new DevTelegram(new MembersWorld({ DEMO_WALLET: 'true', TELEGRAM_BOT_TOKEN: '' }));
    expect(await alone.read()).toContain('npm run dev -- --world');
    expect(await alone.read()).toContain('Press start');
  });
});
