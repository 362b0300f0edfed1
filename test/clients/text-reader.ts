import {
  type CommitReceipt,
  createSessionFetch,
  HttpCommitTransport,
  MeteredSseSession,
  SessionConsumer,
  type SessionFetchClient,
  type SessionOpener,
  SseDecoder,
  serializeSessionCredential,
} from '@solana/mpp/client';

export interface Reading {
  status: number;
  pieces: string[];
  receipt: CommitReceipt | null;
}

/** Example: the public client of payment sessions, which reads an answer piece by piece and pays for each one on arrival. */
export class TextReader {
  readonly client: SessionFetchClient;

  constructor(opener: SessionOpener) {
    this.client = createSessionFetch({ opener });
  }

  credentialOf(payload: Parameters<typeof serializeSessionCredential>[0]['payload']): string {
    return serializeSessionCredential({ challenge: this.client.open!.challenge, payload });
  }

  async read(url: string): Promise<Reading> {
    const { open } = this.client;
    // The opening credential stays valid for the complete session.
    const answer = open ? await fetch(url, { headers: { authorization: open.authorization } }) : await this.client.fetchWithSession(url);
    if (!answer.ok) return { status: answer.status, pieces: [], receipt: null };
    const session = this.client.session!;
    const metered = new MeteredSseSession(new SessionConsumer({ session, transport: new HttpCommitTransport() }));
    const decoder = new SseDecoder();
    const pieces: string[] = [];
    const accept = (events: ReturnType<SseDecoder['finish']>) => {
      for (const event of events) {
        const accepted = metered.acceptEvent(event);
        if (accepted.type === 'message') pieces.push(accepted.data);
      }
    };
    for await (const chunk of answer.body!) accept(decoder.pushChunk(chunk));
    accept(decoder.finish());
    return { status: answer.status, pieces, receipt: await metered.ack() };
  }
}
