import { type Access, type ProtectOptions, protect } from '../../sdk/src/fetch.ts';
import { FakeService } from './service-double.ts';

const URL_PAID = 'https://weather.test/forecast?city=Oslo';

/** Protected handler in front of the fake service. `handler` can be replaced to fail. */
export function protectedHandler(options: Partial<ProtectOptions<Request>> = {}) {
  const service = new FakeService();
  const errors: unknown[] = [];
  const served: Access[] = [];
  const state = { handler: (): Response | Promise<Response> => new Response('sunny') };
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
  /** `open` starts another process of the merchant, without memory of the first. */
  return { service, errors, served, state, ask, pay, open };
}
export const readCode = async (response: Response) => ((await response.json()) as { code: string }).code;
