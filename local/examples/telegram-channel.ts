import { callChain } from '../chain/client.ts';
import { freePort } from '../cli/ports.ts';
import { check } from '../demo/narrator.ts';
import { inUsdc } from '../demo/purchase.ts';
import { buyAtCheckout, waitUntil } from './checkout-buyer.ts';
import { runScript, startServer } from './project.ts';
import { createEndpoint, readUsdc, registerMerchant, type Stage } from './stage.ts';

const NAME = 'telegram-channel';
const CHAT = '-1001234567890';
const GRACE = '4711';
const DAY_SECONDS = 86_400;

export async function playTelegramChannel(stage: Stage): Promise<void> {
  const { api, chain, narrator } = stage;
  narrator.step('A merchant claims a Telegram channel and sells 30 days of it for 10 USDC');
  const merchant = await registerMerchant(stage, 'Ada’s Channel');
  const variables = { SVC_BASE_URL: api.baseUrl, SVC_API_KEY: merchant.key };
  const postCode = async (line: string) => {
    const [code] = /claim-\w+/.exec(line) ?? [];
    if (code) await actInTelegram(stage, { act: 'post', chat: CHAT, text: code });
  };
  const sellVariables = { ...variables, PAYOUT_WALLET: merchant.payoutWallet, CHAT_ID: CHAT };
  const lines = await runScript(stage, NAME, ['sell.ts'], sellVariables, postCode);
  const slug = /\/p\/([\w-]+)$/.exec(lines.at(-1) ?? '')?.[1];
  check(slug !== undefined, 'The channel is not for sale');

  narrator.step('Her server waits for webhooks');
  const PORT = String(await freePort(0, 'PORT'));
  const SVC_WEBHOOK_SECRET = await createEndpoint(stage, merchant, `http://127.0.0.1:${PORT}/hooks`, ['membership.*', 'delivery.*']);
  const server = await startServer(stage, NAME, ['server.ts'], { ...variables, SVC_WEBHOOK_SECRET, PORT });
  const isReceived = (type: string) => waitUntil(`${type} arrives`, () => server.lines.find((line) => line.startsWith(type)));

  narrator.step('Grace presses start at the bot, pays, and is invited');
  const session = await api.must<{ identity_session_id: string; deep_link: string }>('POST', `/v1/products/p/${slug}/identity`);
  await actInTelegram(stage, { act: 'start', link: session.deep_link, user: GRACE, username: 'grace' });
  const buyer = await chain.newBuyer(25_000_000n);
  await buyAtCheckout(stage, slug, buyer, { identity_session_id: session.identity_session_id });
  await Promise.all([isReceived('membership.activated'), isReceived('delivery.succeeded')]);
  const link = await waitUntil('the bot sends an invitation', async () => /https:\/\/t\.me\/\+[\w-]+/.exec(await readTelegram(stage))?.[0]);
  const joined = await actInTelegram(stage, { act: 'join', link, user: GRACE });
  const stranger = await actInTelegram(stage, { act: 'join', link, user: '4712' });
  check(joined.includes(`${GRACE} is in the chat.`) && stranger.includes('opens nothing'), 'The invitation is not for Grace alone');
  const earned = await readUsdc(stage, merchant.payoutWallet);
  narrator.proven(`She is in the channel. Her invitation opens nothing for another person. The merchant has ${inUsdc(earned)}.`);

  narrator.step('Thirty days pass, and one more');
  await callChain(chain.url, 'local_warp', [30 * DAY_SECONDS]);
  await isReceived('membership.grace_started');
  check((await readTelegram(stage)).includes(`Members: ${GRACE}`), 'Grace was removed before the end of her grace period');
  narrator.say('She has not renewed, and has a day left.');
  await callChain(chain.url, 'local_warp', [DAY_SECONDS]);
  await isReceived('membership.expired');
  await waitUntil('the bot removes her', async () => ((await readTelegram(stage)).includes('Members: none') ? true : undefined));
  narrator.proven('The bot has removed her from the channel.');
}

/** Acts as a person or an administrator at the local Telegram. Returns the text of its page. */
async function actInTelegram({ api }: Stage, fields: Record<string, string>): Promise<string> {
  return textOf(
    await fetch(`${api.baseUrl}/dev/telegram`, { method: 'POST', body: new URLSearchParams(fields) }).then((page) => page.text()),
  );
}

async function readTelegram({ api }: Stage): Promise<string> {
  return textOf(await fetch(`${api.baseUrl}/dev/telegram`).then((page) => page.text()));
}

const textOf = (html: string): string => html.replace(/<[^>]*>/g, '');
