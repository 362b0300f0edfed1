import { readFileSync } from 'node:fs';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import {
  createPaymentChannelSessionOpener,
  createSessionFetch,
  HttpCommitTransport,
  MeteredSseSession,
  SessionConsumer,
  SseDecoder,
} from '@solana/mpp/client';

const wallet = await createKeyPairSignerFromBytes(new Uint8Array(JSON.parse(readFileSync(process.env.WALLET_FILE!, 'utf8'))));
// The deposit, in base units, is the most that this session can cost. What is not used comes back.
const opener = createPaymentChannelSessionOpener({ signer: wallet, deposit: 10_000n, rpcUrl: process.env.RPC_URL! });
const client = createSessionFetch({ opener });

/** Reads an answer token by token, then signs a voucher for what arrived. */
async function read(url: string): Promise<void> {
  // The first request opens the payment channel. Later ones use it.
  const answer = client.open
    ? await fetch(url, { headers: { authorization: client.open.authorization } })
    : await client.fetchWithSession(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const metered = new MeteredSseSession(new SessionConsumer({ session: client.session!, transport: new HttpCommitTransport() }));
  const decoder = new SseDecoder();
  const tokens: string[] = [];
  const accept = (events: ReturnType<SseDecoder['finish']>) => {
    for (const event of events) {
      const accepted = metered.acceptEvent(event);
      if (accepted.type === 'message') tokens.push(accepted.data);
    }
  };
  for await (const chunk of answer.body!) accept(decoder.pushChunk(chunk));
  accept(decoder.finish());
  const receipt = await metered.ack();
  console.log(`${tokens.length} tokens, ${receipt?.cumulative} base units promised so far: ${tokens.join('')}`);
}

for (const url of process.argv.slice(2)) await read(url);
