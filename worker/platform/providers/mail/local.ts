import type { MailProvider } from './mail-provider.ts';

/** On a local machine: a letter is sent by being kept, and read at /dev/mail. */
export const local: MailProvider = {
  needs: [],
  perSecond: 100,
  send: async (_desk, { id }) => ({ kind: 'sent', providerId: id }),
};
