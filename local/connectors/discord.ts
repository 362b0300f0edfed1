/**
 * Discord connector: OAuth return of identified buyers (`/discord`) and the command with which an administrator claims a guild
 * (`/interactions`). One fetch handler, used by a Worker and by `node local/connectors/discord.ts`.
 * @module
 */

import type { IncomingMessage } from 'node:http';
import { CLAIM_CODE, type ConnectorEnv, report, SESSION_ID } from './report.ts';

export interface DiscordEnv extends ConnectorEnv {
  DISCORD_CLIENT_ID: string;
  DISCORD_CLIENT_SECRET: string;
  /** OAuth redirect URI as registered at Discord and set as the service's DISCORD_REDIRECT_URI. */
  DISCORD_REDIRECT_URI: string;
  /** Application's public key in hex. Discord signs interactions with it. */
  DISCORD_PUBLIC_KEY: string;
  /** Only to register the command. */
  DISCORD_BOT_TOKEN?: string;
  DISCORD_API_URL?: string;
}

const apiOf = (env: DiscordEnv): string => (env.DISCORD_API_URL ?? 'https://discord.com/api/v10').replace(/\/$/, '');
const page = (status: number, text: string): Response =>
  new Response(`<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><p>${text}</p>`, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  });

interface Person {
  id: string;
  username: string;
  /** Set if the buyer agreed to be added to a server. */
  grant?: { access_token: string; expires_at: string };
}

async function readPerson(env: DiscordEnv, code: string): Promise<Person | null> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: env.DISCORD_REDIRECT_URI,
    client_id: env.DISCORD_CLIENT_ID,
    client_secret: env.DISCORD_CLIENT_SECRET,
  });
  const exchanged = await fetch(`${apiOf(env)}/oauth2/token`, { method: 'POST', body: form });
  type Exchanged = { access_token?: string; expires_in?: number; scope?: string };
  const { access_token: token, expires_in = 0, scope = '' } = (await exchanged.json().catch(() => ({}))) as Exchanged;
  if (!exchanged.ok || !token) return null;
  const asked = await fetch(`${apiOf(env)}/users/@me`, { headers: { authorization: `Bearer ${token}` } });
  const person = (await asked.json().catch(() => ({}))) as { id?: string; username?: string };
  if (!asked.ok || !person.id || !person.username) return null;
  const expires_at = new Date(Date.now() + expires_in * 1000).toISOString();
  const mayJoin = scope.split(' ').includes('guilds.join') && expires_in > 0;
  return { id: person.id, username: person.username, ...(mayJoin ? { grant: { access_token: token, expires_at } } : {}) };
}

async function comeBack(env: DiscordEnv, query: URLSearchParams): Promise<Response> {
  const [code, session = ''] = [query.get('code'), query.get('state') ?? ''];
  if (!SESSION_ID.test(session)) return page(400, 'This link is not complete. Begin again on the page where you are buying.');
  if (!code) return page(200, 'You did not agree. Go back to the page where you are buying, and try again if you want to.');
  const person = await readPerson(env, code);
  if (!person) return page(502, 'Discord did not say who you are. Go back to the page where you are buying, and try again.');
  const { id: provider_user_id, ...rest } = person;
  const body = { identity_session_id: session, provider_user_id, ...rest };
  const { ok } = await report(env, 'discord', 'identity', body);
  return ok
    ? page(200, 'Thank you. Go back to the page where you are buying.')
    : page(409, 'That took too long, or another person was there first. Begin again on the page where you are buying.');
}

const bytesOf = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

async function isSigned(env: DiscordEnv, headers: Headers, body: string): Promise<boolean> {
  const [signature, timestamp] = [headers.get('X-Signature-Ed25519') ?? '', headers.get('X-Signature-Timestamp') ?? ''];
  if (!/^[0-9a-f]{128}$/i.test(signature)) return false;
  const key = await crypto.subtle.importKey('raw', bytesOf(env.DISCORD_PUBLIC_KEY), 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', key, bytesOf(signature), new TextEncoder().encode(timestamp + body));
}

interface Interaction {
  type: number;
  guild_id?: string;
  member?: { permissions: string };
  data?: { name: string; options?: { name: string; value: unknown }[] };
}

const MANAGE_GUILD = 1n << 5n;
const ADMINISTRATOR = 1n << 3n;

async function claimGuild(env: DiscordEnv, { guild_id, member, data }: Interaction): Promise<string> {
  const code = CLAIM_CODE.exec(String(data?.options?.[0]?.value ?? ''))?.[0];
  const permissions = BigInt(member?.permissions ?? 0);
  if (!guild_id || !code) return 'Use this in your server, with the code that the service gave you.';
  if ((permissions & (MANAGE_GUILD | ADMINISTRATOR)) === 0n) return 'Only who may manage this server can claim it.';
  const { ok, detail } = await report(env, 'discord', 'claims', { code, guild_id });
  return ok ? 'This server is claimed. Products can be sold with a role of it now.' : detail;
}

async function interact(env: DiscordEnv, request: Request): Promise<Response> {
  const body = await request.text();
  if (!(await isSigned(env, request.headers, body))) return new Response(null, { status: 401 });
  const interaction = JSON.parse(body) as Interaction;
  // Discord's endpoint verification (PING).
  if (interaction.type === 1) return Response.json({ type: 1 });
  const EPHEMERAL = 1 << 6;
  return Response.json({ type: 4, data: { content: await claimGuild(env, interaction), flags: EPHEMERAL } });
}

export async function handleRequest(request: Request, env: DiscordEnv): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (request.method === 'GET' && pathname === '/discord') return comeBack(env, searchParams);
  if (request.method === 'POST' && pathname === '/interactions') return interact(env, request);
  return new Response(null, { status: 404 });
}

export default { fetch: handleRequest };

async function register(env: DiscordEnv): Promise<void> {
  const option = { type: 3, name: 'code', description: 'The code that the service gave you', required: true };
  const command = { name: 'claim', description: 'Claim this server', default_member_permissions: String(MANAGE_GUILD), options: [option] };
  const { status } = await fetch(`${apiOf(env)}/applications/${env.DISCORD_CLIENT_ID}/commands`, {
    method: 'PUT',
    headers: { authorization: `Bot ${env.DISCORD_BOT_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify([command]),
  });
  console.log(status === 200 ? 'registered' : `Discord answers ${status}`);
}

/** Upper limit of an interaction's body. */
const BODY_MAX = 256 * 1024;

export async function answerNode(env: DiscordEnv, asked: IncomingMessage): Promise<Response> {
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of asked as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > BODY_MAX) return new Response(null, { status: 413, headers: { connection: 'close' } });
      chunks.push(chunk);
    }
    const { method = 'GET', url = '/' } = asked;
    if (!URL.canParse(url, ORIGIN) || METHODS.every((known) => known !== method)) return new Response(null, { status: 400 });
    const body = method === 'POST' ? Buffer.concat(chunks) : null;
    return await handleRequest(new Request(new URL(url, ORIGIN), { method, headers: asked.headers as Record<string, string>, body }), env);
  } catch (error) {
    // Discord or the service is unavailable, or the request is malformed: this caller gets an error and the server continues.
    console.error(error instanceof Error ? error.message : 'failed');
    return page(502, 'That did not work just now. Go back to the page where you are buying, and try again.');
  }
}

const ORIGIN = 'http://connector';
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

async function serve(env: DiscordEnv & { PORT?: string }): Promise<void> {
  const { createServer } = await import('node:http');
  const server = createServer((asked, answered) => {
    void answerNode(env, asked).then(async (response) => {
      answered.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
    });
  });
  server.listen(Number(env.PORT ?? 8788), () => console.log('the connector of Discord listens'));
}

if (globalThis.process?.argv?.[1]?.endsWith('connectors/discord.ts')) {
  const env = process.env as unknown as DiscordEnv;
  await (process.argv[2] === 'register' ? register(env) : serve(env));
}
