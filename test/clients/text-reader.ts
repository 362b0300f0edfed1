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

/** What one answer was: its words, and what was paid for them. */
export interface Reading {
  status: number;
  words: string[];
  receipt: CommitReceipt | null;
}

/** An example: the public client of payment sessions, which reads answers word by word and pays for each when it is read. */
export class TextReader {
  readonly client: SessionFetchClient;

  constructor(opener: SessionOpener) {
    this.client = createSessionFetch({ opener });
  }

  /** The credential of an action in the open session. */
  credentialOf(payload: Parameters<typeof serializeSessionCredential>[0]['payload']): string {
    return serializeSessionCredential({ challenge: this.client.open!.challenge, payload });
  }

  async read(url: string): Promise<Reading> {
    const { open } = this.client;
    // The opening stands for the whole session: the same again reads on.
    const answer = open ? await fetch(url, { headers: { authorization: open.authorization } }) : await this.client.fetchWithSession(url);
    if (!answer.ok) return { status: answer.status, words: [], receipt: null };
    const session = this.client.session!;
    const metered = new MeteredSseSession(new SessionConsumer({ session, transport: new HttpCommitTransport() }));
    const decoder = new SseDecoder();
    const words: string[] = [];
    const accept = (events: ReturnType<SseDecoder['finish']>) => {
      for (const event of events) {
        const told = metered.acceptEvent(event);
        if (told.type === 'message') words.push(told.data);
      }
    };
    for await (const chunk of answer.body!) accept(decoder.pushChunk(chunk));
    accept(decoder.finish());
    return { status: answer.status, words, receipt: await metered.ack() };
  }
}
