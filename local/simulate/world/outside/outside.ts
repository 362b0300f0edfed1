import type { History } from '../../book/history.ts';
import type { Handler, Host } from '../../book/host.ts';
import type { Dice } from './dice.ts';
import { HOOKS, MAIL, PRICES, PROCESSOR } from './hosts.ts';
import { CardProcessor } from './processor.ts';

const FAILURES = [500, 503, 429, 302, null] as const;
const SOL_PRICE = { price: '15000000000', conf: '7500000', expo: -8 };

/** Everything that the service calls apart from the chain: webhook receivers, the mail provider, the source of prices. */
export class Outside {
  readonly #host: Host;
  readonly #history: History;
  readonly #dice: Dice;
  /** Part of the deliveries that a receiver fails. */
  readonly #troubles = new Map<string, number>();
  readonly mails = new Map<string, string>();
  readonly processor = new CardProcessor();

  constructor(host: Host, history: History, dice: Dice) {
    this.#host = host;
    this.#history = history;
    this.#dice = dice;
    const handlers: Record<string, Handler> = {
      [HOOKS]: (request) => this.#receive(request),
      [MAIL]: (request) => this.#takeMail(request),
      [PRICES]: async (request) => this.#quote(request),
      [PROCESSOR]: (request) => this.processor.answer(request),
    };
    for (const [hostname, handler] of Object.entries(handlers)) host.serve(hostname, handler);
  }

  trouble(box: string, part: number): void {
    this.#troubles.set(box, part);
  }

  calm(): void {
    this.#troubles.clear();
  }

  async #receive(request: Request): Promise<Response> {
    const box = new URL(request.url).pathname.slice(1);
    const body = await request.text();
    const isFailing = this.#dice.chance(this.#troubles.get(box) ?? 0);
    const answered = isFailing ? this.#dice.oneOf(FAILURES) : 200;
    const headers = Object.fromEntries(request.headers);
    this.#history.received.push({ box, at: this.#host.now(), headers, body, answered });
    if (answered === null) throw new TypeError('fetch failed');
    return new Response('', { status: answered, headers: answered === 302 ? { location: `https://${HOOKS}/elsewhere` } : {} });
  }

  async #takeMail(request: Request): Promise<Response> {
    const key = request.headers.get('idempotency-key') ?? '';
    const body = await request.text();
    const known = this.mails.get(key);
    if (known !== undefined && known !== body) return Response.json({ name: 'invalid_idempotent_request' }, { status: 409 });
    this.mails.set(key, body);
    return Response.json({ id: `mail-${this.mails.size}` });
  }

  /** Quotes SOL at 150 dollars in the format of Pyth Hermes. */
  #quote(request: Request): Response {
    const publish_time = Math.floor(this.#host.now() / 1000) - 1;
    const price = { ...SOL_PRICE, publish_time };
    const metadata = { slot: 1, proof_available_time: publish_time, prev_publish_time: publish_time - 1 };
    const id = new URL(request.url).searchParams.get('ids[]');
    return Response.json({ binary: { encoding: 'hex', data: [] }, parsed: [{ id, price, ema_price: price, metadata }] });
  }
}
