import { type Access, type ProtectOptions, protect } from '../../sdk/src/fetch.ts';
import { StandIn } from './stand-in.ts';

const URL_PAID = 'https://weather.test/forecast?city=Oslo';

/** A protected handler before the stand-in; `handler` may be replaced to fail. */
export function protectedHandler(options: Partial<ProtectOptions<Request>> = {}) {
  const service = new StandIn();
  const errors: unknown[] = [];
  const served: Access[] = [];
  const state = { handler: (): Response => new Response('sunny') };
  const open = () =>
    protect(
      {
        client: service.client({ timeoutMs: 50, settleTimeoutMs: 50 }),
        product: 'p1',
        onError: (error) => errors.push(error),
        ...options,
      },
      (_request, access) => {
        served.push(access);
        return state.handler();
      },
    );
  const app = open();
  const ask = (headers: Record<string, string> = {}, through = app) => through(new Request(URL_PAID, { headers }));
  const pay = (payment: string, headers: Record<string, string> = {}, through = app) =>
    ask({ 'PAYMENT-SIGNATURE': payment, ...headers }, through);
  /** Another process of the same merchant: it remembers nothing of the first. */
  return { service, errors, served, state, ask, pay, open };
}
export const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;
