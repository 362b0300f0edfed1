import type { ErrorWords } from './words.ts';

/** Words for a code of the SDK's own: the service never answers it. */
interface ClientCode extends ErrorWords {
  message: string;
  retryable: boolean;
}

/** Codes that the SDK finds out by itself. Its errors link to their pages. */
export const CLIENT_CODES = {
  invalid_idempotency_key: {
    message: 'An Idempotency-Key has 8 to 255 visible ASCII characters, without spaces.',
    retryable: false,
    why: 'The SDK checks the key before it sends anything, so nothing was sent.',
    next: 'Send a key of your own that fits, such as a UUID, or leave it out: the SDK then makes one.',
  },
  request_timeout: {
    message: 'The service did not answer within `timeoutMs`.',
    retryable: true,
    why: 'The answer was late or was lost on its way. A write may have had its effect: `isAmbiguous` is true.',
    next: 'Repeat a read. Repeat a write under the same Idempotency-Key; the service answers it once.',
  },
  connection_failed: {
    message: 'The request got no answer.',
    retryable: true,
    why: 'The address is wrong, the network is down, or the connection broke before the answer was complete.',
    next: 'Check `baseUrl` and the network. Repeat a write only under the same Idempotency-Key.',
  },
  unexpected_response: {
    message: 'The answer does not come from this service.',
    retryable: false,
    why: 'Something between the SDK and the service answered: a proxy, a firewall, or another server at `baseUrl`.',
    next: 'Compare `baseUrl` with the address of the service, and read `status` and `headers` of the error.',
  },
} as const satisfies Record<string, ClientCode>;

export const isClientCode = (name: string): name is keyof typeof CLIENT_CODES => Object.hasOwn(CLIENT_CODES, name);
