import { generateKeyPairSync, sign } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answerNode, type DiscordEnv, handleRequest } from '../../local/connectors/discord.ts';
import telegramWorker, { handleUpdate, type TelegramEnv } from '../../local/connectors/telegram.ts';

const SESSION = '01900000-0000-7000-8000-000000000001';
const CODE = 'claim-abcdefghijklmnopqrstuvwx';
const SERVICE = 'https://svc.example.com';
const variables = { SERVICE_URL: SERVICE, CONNECTOR_SECRET: 'the secret of the connector' };

function listen(answers: Record<string, [number, unknown, Record<string, string>?] | Error>) {
  const calls: { url: string; headers: Headers; body: string }[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    calls.push({ url: request.url, headers: request.headers, body: await request.text() });
    const [, answer] = Object.entries(answers).find(([end]) => request.url.endsWith(end)) ?? [];
    if (answer instanceof Error) throw answer;
    return Response.json(answer?.[1] ?? {}, { status: answer?.[0] ?? 200, headers: answer?.[2] ?? {} });
  });
  const to = (end: string) => calls.filter(({ url }) => url.endsWith(end)).map(({ body }) => JSON.parse(body));
  return { calls, to };
}
afterEach(() => vi.restoreAllMocks());

describe('Telegram connector', () => {
  const env: TelegramEnv = { ...variables, TELEGRAM_BOT_TOKEN: '1:token', WEBHOOK_SECRET: 'of-the-webhook' };
  const privately = (text: string) => ({
    update_id: 1,
    message: { text, from: { id: 42, username: 'ada' }, chat: { id: 42, type: 'private' as const } },
  });
  const inGroup = (text: string) => ({
    update_id: 2,
    message: { text, from: { id: 42 }, chat: { id: -100, type: 'supergroup' as const } },
  });

  it('the service gets the user who pressed start, with the secret, and the user gets the next step', async () => {
    const { calls, to } = listen({ '/identity': [200, {}] });
    await handleUpdate(env, privately(`/start ${SESSION}`));
    expect(to('/telegram/identity')).toEqual([{ identity_session_id: SESSION, provider_user_id: '42', username: 'ada' }]);
    expect(calls[0]!.headers.get('X-Svc-Connector-Secret')).toBe(variables.CONNECTOR_SECRET);
    expect(to('/sendMessage')).toEqual([{ chat_id: 42, text: 'Thank you. Go back to the page where you are buying.' }]);
  });

  it('a refusal shows the service’s text, and a lost answer is requested again', async () => {
    const { to } = listen({ '/identity': [410, { detail: 'This identity session is over.' }] });
    await handleUpdate(env, privately(`/start ${SESSION}`));
    expect(to('/sendMessage')[0].text).toBe('This identity session is over.');
    vi.restoreAllMocks();
    const silent = listen({ '/identity': new TypeError('connection reset') });
    await handleUpdate(env, privately(`/start ${SESSION}`));
    expect(silent.to('/identity')).toHaveLength(3);
  });

  it('the connector waits for Retry-After, and gives up if that is too long for a user', async () => {
    const waits = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((wake: () => void) => wake()) as unknown as typeof setTimeout);
    const { to } = listen({ '/identity': [429, { detail: 'Too many.' }, { 'Retry-After': '7' }] });
    await handleUpdate(env, privately(`/start ${SESSION}`));
    expect(to('/identity')).toHaveLength(3);
    expect(waits.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 7000)).toHaveLength(2);
    expect(to('/sendMessage')[0].text).toBe('Too many.');
    vi.restoreAllMocks();
    const long = listen({ '/identity': [429, { detail: 'Too many.' }, { 'Retry-After': '600' }] });
    await handleUpdate(env, privately(`/start ${SESSION}`));
    expect(long.to('/identity')).toHaveLength(1);
  });

  it('a basic group is not claimed, and the reply says what to do', async () => {
    const { to } = listen({ '/getChatMember': [200, { ok: true, result: { status: 'creator' } }] });
    const update = inGroup(CODE);
    await handleUpdate(env, { ...update, message: { ...update.message, chat: { id: -100, type: 'group' } } });
    expect([to('/telegram/claims'), to('/sendMessage')[0].text]).toEqual([[], expect.stringMatching(/supergroup/)]);
  });

  it('a chat is claimed for its administrators only, and never by a private message', async () => {
    for (const [status, claims] of [
      ['administrator', 1],
      ['creator', 1],
      ['member', 0],
      ['left', 0],
    ] as const) {
      const { to } = listen({ '/getChatMember': [200, { ok: true, result: { status } }], '/claims': [200, {}] });
      await handleUpdate(env, inGroup(`here it is: ${CODE}`));
      expect([status, to('/telegram/claims')]).toEqual([status, Array(claims).fill({ code: CODE, chat_id: '-100' })]);
      vi.restoreAllMocks();
    }
    const { calls } = listen({});
    await handleUpdate(env, privately(CODE));
    await handleUpdate(env, privately('hello'));
    expect(calls).toEqual([]);
  });

  it('a webhook is accepted only with the secret that Telegram sends', async () => {
    const { calls } = listen({});
    const post = (secret?: string) =>
      telegramWorker.fetch(
        new Request('https://bot.example.com/', {
          method: 'POST',
          headers: secret ? { 'X-Telegram-Bot-Api-Secret-Token': secret } : {},
          body: JSON.stringify(privately(`/start ${SESSION}`)),
        }),
        env,
      );
    expect([(await post()).status, (await post('wrong')).status, calls.length]).toEqual([401, 401, 0]);
    expect([(await post('of-the-webhook')).status, calls.length]).toEqual([200, 2]);
  });
});

describe('Discord connector', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const env: DiscordEnv = {
    ...variables,
    DISCORD_CLIENT_ID: '123456',
    DISCORD_CLIENT_SECRET: 'of the client',
    DISCORD_REDIRECT_URI: 'https://bot.example.com/discord',
    DISCORD_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex'),
  };
  const back = (query: string) => handleRequest(new Request(`https://bot.example.com/discord?${query}`), env);
  const command = (permissions: string, { key = privateKey, guild = '777' } = {}) => {
    const body = JSON.stringify({
      type: 2,
      guild_id: guild,
      member: { permissions },
      data: { name: 'claim', options: [{ name: 'code', value: CODE }] },
    });
    const headers = { 'X-Signature-Timestamp': '1', 'X-Signature-Ed25519': sign(null, Buffer.from(`1${body}`), key).toString('hex') };
    return handleRequest(new Request('https://bot.example.com/interactions', { method: 'POST', headers, body }), env);
  };

  it('the service gets the returning user, and no code or token is shown', async () => {
    const { to } = listen({
      '/oauth2/token': [200, { access_token: 'of the person' }],
      '/users/@me': [200, { id: '99', username: 'ada' }],
      '/identity': [200, {}],
    });
    const response = await back(`code=abc&state=${SESSION}`);
    expect([response.status, (await response.text()).includes('of the person')]).toEqual([200, false]);
    expect(to('/discord/identity')).toEqual([{ identity_session_id: SESSION, provider_user_id: '99', username: 'ada' }]);
  });

  it('a broken link, a declined consent and an unknown user get instructions', async () => {
    const { calls } = listen({ '/oauth2/token': [400, {}] });
    expect([
      (await back('code=abc&state=<script>')).status,
      (await back(`state=${SESSION}&error=access_denied`)).status,
      calls.length,
    ]).toEqual([400, 200, 0]);
    expect((await back(`code=abc&state=${SESSION}`)).status).toBe(502);
  });

  it('a guild is claimed for its managers by a command signed by Discord', async () => {
    const { to } = listen({ '/claims': [200, {}] });
    const said = async (response: Response) => ((await response.json()) as { data: { content: string } }).data.content;
    expect(await said(await command('32'))).toMatch(/claimed/);
    expect(await said(await command('1024'))).toMatch(/manage/);
    expect((await command('32', { key: generateKeyPairSync('ed25519').privateKey })).status).toBe(401);
    expect(to('/discord/claims')).toEqual([{ code: CODE, guild_id: '777' }]);
  });

  it('bad requests and a Discord outage do not affect the next request', async () => {
    const ask = (method: string, url: string, body: Buffer[] = []) =>
      answerNode(env, Object.assign(Readable.from(body), { method, url, headers: {} }) as unknown as IncomingMessage);
    vi.spyOn(console, 'error').mockImplementation(() => {});
    listen({ '/oauth2/token': new TypeError('connection reset') });
    const statuses = [];
    for (const [method, url, body] of [
      ['GET', '//'],
      ['TRACE', '/discord'],
      ['POST', '/interactions', [Buffer.alloc(200_000), Buffer.alloc(200_000)]],
      ['POST', '/interactions', [Buffer.from('{}')]],
      ['GET', `/discord?code=abc&state=${SESSION}`],
      ['GET', '/elsewhere'],
    ] as const)
      statuses.push((await ask(method, url, [...(body ?? [])])).status);
    expect(statuses).toEqual([400, 400, 413, 401, 502, 404]);
  });
});
