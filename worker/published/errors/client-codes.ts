import type { ErrorHelp } from './words.ts';

interface ClientCode extends ErrorHelp {
  message: string;
  retryable: boolean;
}

/** Codes that the SDK raises itself. Its errors link to their pages. */
export const CLIENT_CODES: Readonly<Record<string, ClientCode>> = {
  invalid_idempotency_key: {
    message: 'An Idempotency-Key has 8 to 255 visible ASCII characters, without spaces.',
    retryable: false,
    why: 'The SDK checks the key before it sends anything, so nothing was sent.',
    next: 'Send a valid key, such as a UUID, or omit it: the SDK then generates one.',
  },
  request_timeout: {
    message: 'The service did not respond within `timeoutMs`.',
    retryable: true,
    why: 'The response was late or lost. A write may have had its effect: `isAmbiguous` is true.',
    next: 'Repeat a read. Repeat a write with the same Idempotency-Key; it has one effect.',
  },
  connection_failed: {
    message: 'The request got no response.',
    retryable: true,
    why: 'The URL is wrong, the network is down, or the connection broke before the response was complete.',
    next: 'Check `baseUrl` and the network. Repeat a write only with the same Idempotency-Key.',
  },
  unexpected_response: {
    message: 'The response does not come from this service.',
    retryable: false,
    why: 'A proxy, a firewall, or another server at `baseUrl` responded instead of the service.',
    next: 'Compare `baseUrl` with the URL of the service, and read `status` and `headers` of the error.',
  },
};
