import { beforeAll, describe, expect, it } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { MembersWorld } from '../../support/people/members.ts';
import { CONNECTOR_SECRETS, testEnv } from '../../support/runner/env.ts';
import type { Body, Merchant } from '../../support/world.ts';

const CHAT = '-4001';

describe('connected chats', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  let eve: Merchant;
  beforeAll(async () => {
    [ada, eve] = [await w.merchant(), await w.merchant()];
    await w.claim(ada, 'telegram', CHAT);
  });

  const begin = async (by: Merchant, provider = 'telegram') =>
    (await w.call('POST', '/v1/account/delivery/claims', { key: by.key, body: { provider } })).body.code as string;
  const sell = (by: Merchant, chat_id: string) => {
    const body = {
      name: 'X',
      price: { asset: 'USDC', amount: '1' },
      product_type: 'telegram',
      delivery: { provider: 'telegram', chat_id },
    };
    return w.call('POST', '/v1/products', { key: by.key, body });
  };
  const said = ({ status, body }: { status: number; body: { code: string; meta: { reason?: string } } }) => [
    status,
    body.code,
    body.meta.reason,
  ];

  it('a product that names another account’s chat is 409 unclaimed, when created and when changed', async () => {
    expect(said(await sell(eve, CHAT))).toEqual([409, 'setup_not_ready', 'unclaimed']);
    expect((await sell(ada, CHAT)).status).toBe(201);
    await w.claim(eve, 'telegram', '-4002');
    const { body } = await sell(eve, '-4002');
    const delivery = { provider: 'telegram', chat_id: CHAT };
    const changed = await w.call('PATCH', `/v1/products/${body.product_id}`, { key: eve.key, body: { delivery } });
    expect(said(changed)).toEqual([409, 'setup_not_ready', 'unclaimed']);
    const plain = await w.product(eve);
    const turned = await w.call('PATCH', `/v1/products/${plain.product_id}`, {
      key: eve.key,
      body: { product_type: 'telegram', delivery },
    });
    expect(said(turned)).toEqual([409, 'setup_not_ready', 'unclaimed']);
  });

  it('a chat claimed by one account cannot be claimed by another, also concurrently', async () => {
    expect(said(await w.connector('telegram', 'claims', { code: await begin(eve), chat_id: CHAT }))).toEqual([
      409,
      'state_conflict',
      'claimed',
    ]);
    const codes = [await begin(ada), await begin(eve)];
    const answers = await Promise.all(codes.map((code) => w.connector('telegram', 'claims', { code, chat_id: '-4003' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('a claim code works once, within ten minutes, on its own platform, and only from our connector', async () => {
    const code = await begin(ada);
    const body = { code, chat_id: '-4004' };
    expect((await w.connector('discord', 'claims', { code, guild_id: '4004' })).status).toBe(404);
    const stranger = await w.call('POST', '/v1/integrations/connectors/telegram/claims', {
      body,
      headers: { 'X-Svc-Connector-Secret': 'x' },
    });
    expect(stranger.status).toBe(401);
    const first = await w.connector('telegram', 'claims', body);
    expect([first.status, first.body.chat_id]).toEqual([200, '-4004']);
    expect((await w.connector('telegram', 'claims', body)).body).toEqual(first.body);
    expect(said(await w.connector('telegram', 'claims', { code, chat_id: '-4005' }))).toEqual([409, 'state_conflict', 'code_used']);
    const late = await begin(ada);
    await testEnv.DB.prepare('UPDATE communities SET expires_at = 1 WHERE native_id IS NULL').run();
    expect((await w.connector('telegram', 'claims', { code: late, chat_id: '-4006' })).status).toBe(404);
    await w.sweepAlone('communityCodes');
    expect(await testEnv.DB.prepare('SELECT count(*) AS n FROM communities WHERE native_id IS NULL').first<number>('n')).toBe(0);
    for (const [wrong, loc] of [
      [{ code }, 'chat_id'],
      [{ code, guild_id: '4004' }, 'guild_id'],
    ] as const) {
      const refused = await w.connector('telegram', 'claims', wrong);
      expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', loc]]);
    }
  });

  it('releasing a chat revokes its open invitations, and later members are not changed', async () => {
    const claim = await w.claim(ada, 'telegram', '-4007');
    const club = await w.club(ada, { provider: 'telegram', chat_id: '-4007' }, { grace_hours: 0 });
    const [{ payment, membershipId }, used] = [await w.join(club, '401'), await w.join(club, '403')];
    await w.settleDown();
    const readLink = async (paid: { payment_id: string }) => (await w.member(ada, paid.payment_id)).delivery.invite_url;
    const [link, usedLink] = [await readLink(payment), await readLink(used.payment)];
    await w.happens('telegram', { event: 'uses', link: usedLink, user: '403' });
    const mine = await w.call('GET', '/v1/account/delivery/claims', { key: ada.key });
    expect(mine.body.items.map(({ chat_id }: { chat_id: string }) => chat_id)).toContain('-4007');
    expect((await w.call('DELETE', `/v1/account/delivery/claims/${claim}`, { key: eve.key })).status).toBe(404);
    const release = () => w.call('DELETE', `/v1/account/delivery/claims/${claim}`, { key: ada.key });
    expect((await Promise.all([release(), release(), release()])).map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const log = await w.call('GET', `/v1/account/audit-log?action=chat.released&subject_id=${claim}`, { key: ada.token });
    expect(log.body.items).toHaveLength(1);
    await w.claim(eve, 'telegram', '-4007');
    const before = (await w.telegram()).calls.length;
    await w.fault('telegram', { call: 'revokeChatInviteLink', kind: 'broken' });
    await w.due();
    await w.due();
    const chat = async () => (await w.telegram()).chats.find(({ id }) => id === '-4007')!;
    expect((await chat()).invites.map(({ isRevoked }) => isRevoked)).toEqual([true, true]);
    const unchanged = (await w.member(ada, payment.payment_id)).delivery;
    expect([unchanged.status, unchanged.invite_url, await readLink(used.payment)]).toEqual(['delivered', undefined, undefined]);
    await w.happens('telegram', { event: 'uses', link, user: '666' });
    await w.happens('telegram', { event: 'bans', chat: '-4007', user: '401' });
    const late = await w.join(club, '402');
    await w.lapse(membershipId);
    await w.lapse(used.membershipId);
    await w.settleDown();
    expect((await w.member(ada, late.payment.payment_id)).delivery).toMatchObject({ status: 'failed', last_error: 'unclaimed' });
    for (const { payment_id } of [payment, used.payment]) expect((await w.member(ada, payment_id)).delivery.status).toBe('revoked');
    expect([(await chat()).members, (await chat()).banned]).toEqual([['403'], ['401']]);
    const names = (await w.telegram()).calls.slice(before).map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set(['revokeChatInviteLink']));
    expect(names).toHaveLength(3);
  });
});

describe('claims of an account in another database than the first', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB_2');
    ada = await w.merchant();
  });

  const readEntries = async (action: string): Promise<Body[]> =>
    (await w.call('GET', `/v1/account/audit-log?per_page=100&action=${action}`, { key: ada.token })).body.items;
  const idsIn = async (action: string): Promise<string[]> => (await readEntries(action)).map(({ subject }) => subject.id);
  const claimIds = async (): Promise<string[]> => {
    const { results } = await testEnv.DB.prepare('SELECT hex(id) AS id FROM communities').all<{ id: string }>();
    return results.map(({ id }) => id.toLowerCase());
  };
  const plain = (id: string) => id.replaceAll('-', '');

  it('no claim or release has an entry before it is stored, and each has one that names the chat, whenever the databases fail', async () => {
    for (let failsAt = 1, isDone = false; !isDone; failsAt++) {
      const { env } = withFaults(w.env, { before: ({ number }) => number >= failsAt });
      const known = await claimIds();
      const begun = await w.call('POST', '/v1/account/delivery/claims', { key: ada.key, env, body: { provider: 'telegram' } });
      isDone = begun.status === 201;
      const [added, entries] = [(await claimIds()).filter((id) => !known.includes(id)), (await idsIn('chat.claim_started')).map(plain)];
      for (const id of entries) expect([...known, ...added]).toContain(id);
      if (isDone) expect(entries).toEqual(expect.arrayContaining(added));
    }
    for (let failsAt = 1, isDone = false; !isDone; failsAt++) {
      const claim = await w.claim(ada, 'telegram', `-42${failsAt}`);
      const { env } = withFaults(w.env, { before: ({ number }) => number >= failsAt });
      const release = (options = {}) => w.call('DELETE', `/v1/account/delivery/claims/${claim}`, { key: ada.key, ...options });
      isDone = (await release({ env })).status === 204;
      const { items } = (await w.call('GET', '/v1/account/delivery/claims', { key: ada.key })).body;
      const isListed = items.some(({ claim_id }: { claim_id: string }) => claim_id === claim);
      expect([failsAt, isListed && (await idsIn('chat.released')).includes(claim)]).toEqual([failsAt, false]);
      if (!isDone) expect([204, 404]).toContain((await release()).status);
      const released = (await readEntries('chat.released')).filter(({ subject }) => subject.id === claim);
      expect(released.map(({ before }) => before)).toEqual([{ provider: 'telegram', native_id: `-42${failsAt}` }]);
    }
  });
});

describe('visibility of invitations and platform names', () => {
  const w = new MembersWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let ada: Merchant;
  let club: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    await w.claim(ada, 'telegram', '-4101');
    club = await w.club(ada, { provider: 'telegram', chat_id: '-4101' }, { grace_hours: 0 });
  });

  it('only the buyer’s own identity session sees the invitation, and no event contains it', async () => {
    const { payment, session, membershipId } = await w.join(club, '411');
    await w.settleDown();
    const { invite_url: link } = (await w.member(ada, payment.payment_id)).delivery;
    expect(link).toMatch(/^https:\/\/t\.me\//);
    const path = `/v1/payments/${payment.payment_id}`;
    const shown = (session?: string) => w.call('GET', path, session ? { headers: { 'X-Svc-Identity-Session': session } } : {});
    expect((await shown(session)).body.delivery).toEqual({ status: 'delivered', invite_url: link });
    for (const other of [undefined, await w.identified(club, '412'), 'garbage', membershipId])
      expect('delivery' in (await shown(other)).body).toBe(false);
    const eve = await w.merchant();
    expect((await w.call('GET', path, { key: eve.key, headers: { 'X-Svc-Identity-Session': session } })).status).toBe(404);
    const events = await prepareOnEvents(testEnv.DB, 'SELECT data FROM events WHERE membership_id = ?')
      .bind(membershipId)
      .all<{ data: string }>();
    expect(events.results.length).toBeGreaterThan(2);
    expect(JSON.stringify(events.results)).not.toContain(link);
  });

  it('another payer under the same reference does not take over a delivery, and a customer’s own new identity does', async () => {
    const first = await w.join(club, '431', { input: { customer_ref: 'known' } });
    await w.settleDown();
    await w.join(club, '666', { input: { customer_ref: 'known' } });
    await w.settleDown();
    const held = (await w.member(ada, first.payment.payment_id)).delivery;
    expect([held.identity.provider_user_id, held.status]).toEqual(['431', 'delivered']);
    expect((await w.telegram()).messages.filter(({ to }) => to === '666')).toEqual([]);
    const buyer = (await w.chain.wallet()) as never;
    const own = await w.join(club, '441', { buyer });
    await w.settleDown();
    const link = (await w.member(ada, own.payment.payment_id)).delivery.invite_url;
    await w.happens('telegram', { event: 'uses', link, user: '441' });
    await w.join(club, '442', { buyer });
    await w.settleDown();
    const moved = (await w.member(ada, own.payment.payment_id)).delivery;
    expect([moved.identity.provider_user_id, moved.status]).toEqual(['442', 'delivered']);
    const chat = (await w.telegram()).chats.find(({ id }) => id === '-4101')!;
    expect([chat.members.includes('441'), chat.invites.find((one) => one.link === link)!.isRevoked]).toEqual([false, true]);
  });

  it('a person with two memberships of one chat stays until the last one ends', async () => {
    const other = await w.club(ada, { provider: 'telegram', chat_id: '-4101' }, { grace_hours: 0 });
    const [one, two] = [await w.join(club, '451'), await w.join(other, '451')];
    await w.settleDown();
    const link = (await w.member(ada, one.payment.payment_id)).delivery.invite_url;
    await w.happens('telegram', { event: 'uses', link, user: '451' });
    const isIn = async () => (await w.telegram()).chats.find(({ id }) => id === '-4101')!.members.includes('451');
    await w.lapse(one.membershipId);
    await w.settleDown();
    expect([await isIn(), (await w.member(ada, one.payment.payment_id)).delivery.status]).toEqual([true, 'revoked']);
    await w.lapse(two.membershipId);
    await w.settleDown();
    expect(await isIn()).toBe(false);
  });
});

describe('delivery readiness and test', () => {
  const w = new MembersWorld();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const readiness = (env = w.env) => w.call('GET', '/v1/account/delivery/readiness', { key: ada.key, env });
  const test = (provider: string, key = ada.key, env = w.env) =>
    w.call('POST', '/v1/account/delivery/test', { key, body: { provider }, env });

  it('readiness names missing settings, platform checks are cached, and a sandbox key makes no call', async () => {
    const env = { ...w.env, TELEGRAM_BOT_TOKEN: '' };
    expect((await readiness(env)).body.telegram).toEqual({ configured: false, missing: ['TELEGRAM_BOT_TOKEN'], ok: false });
    expect((await test('telegram', ada.key, env)).body).toMatchObject({ provider: 'telegram', ok: false });
    expect((await test('telegram', ada.sandboxKey)).body).toMatchObject({ ok: true, detail: 'simulated' });
    expect((await w.telegram()).calls).toEqual([]);
    expect((await test('telegram')).body).toMatchObject({ provider: 'telegram', ok: true, detail: 'The bot answers.' });
    for (let i = 0; i < 3; i++) expect((await test('telegram')).body.ok).toBe(true);
    expect((await w.telegram()).calls.map(({ name }) => name)).toEqual(['getMe']);
    expect((await readiness()).body.telegram).toMatchObject({ configured: true, missing: [], ok: true, bot_username: 'svc_test_bot' });
    expect((await test('matrix')).status).toBe(422);
    expect((await test('Telegram')).status).toBe(422);
    const wrong = { ...w.env, DISCORD_BOT_TOKEN: 'a-wrong-token-of-discord' };
    expect((await test('discord', ada.key, wrong)).body).toMatchObject({ ok: false, detail: expect.stringMatching(/^401/) });
  });

  it('a product of an unconfigured platform is refused in live mode and accepted in the sandbox', async () => {
    const env = { ...w.env, TELEGRAM_BOT_TOKEN: '' };
    const body = {
      name: 'X',
      price: { asset: 'USDC', amount: '1' },
      product_type: 'telegram',
      delivery: { provider: 'telegram', chat_id: '-1' },
    };
    const { status, body: refused } = await w.call('POST', '/v1/products', { key: ada.key, body, env });
    expect([status, refused.meta]).toMatchObject([409, { reason: 'delivery_not_configured', missing: ['TELEGRAM_BOT_TOKEN'] }]);
    const made = await w.call('POST', '/v1/products', { key: ada.sandboxKey, body, env });
    expect(made.body).toMatchObject({
      product_type: 'telegram',
      requires_identity: 'telegram',
      access_period_days: 30,
      delivery: body.delivery,
    });
    expect(CONNECTOR_SECRETS.telegram.length).toBe(2);
  });
});
