import type { LocalSecrets } from './secrets.ts';

/** Variables of a local start that need no chain. */
export const variablesOf = (secrets: LocalSecrets, baseUrl: string) => ({
  BASE_URL: baseUrl,
  PEPPER: secrets.pepper,
  JWT_KEYS: secrets.jwtKeys,
  RECEIPT_KEYS: secrets.receiptKeys,
  EMAIL_LINK_KEYS: secrets.emailKeys,
  SANDBOX_SEED: secrets.sandboxSeed,
  OPERATOR_SECRET: secrets.operatorSecret,
  SEAL_KEYS: secrets.sealKeys,
  FACTOR_KEYS: secrets.factorKeys,
  STAFF_FACTOR: 'optional',
  HANDOFF_SECRETS: secrets.handoffSecrets,
  // No bot runs locally. Developers act as the connector with the secrets in the state directory.
  TELEGRAM_BOT_USERNAME: 'svc_local_bot',
  TELEGRAM_CONNECTOR_SECRETS: secrets.telegramConnectorSecret,
  DISCORD_CLIENT_ID: '000000000000000000',
  DISCORD_CONNECTOR_SECRETS: secrets.discordConnectorSecret,
  DISCORD_REDIRECT_URI: `${baseUrl}/v1/docs`,
  // Emails appear at /dev/mail.
  MAIL_PROVIDER: 'local',
  MAIL_FROM: 'svc <post@svc.local>',
  ALLOW_INSECURE_WEBHOOKS: 'true',
  RATE_MULTIPLIER: '1000',
});

/** Variables of a local start with a chain: the keys that sign on it, and the demo wallet. */
export const payingVariablesOf = (secrets: LocalSecrets) => ({
  CHALLENGE_KEYS: secrets.challengeKeys,
  FEE_PAYER_KEYS: secrets.feePayerKeys,
  CHANNEL_KEYS: secrets.channelKeys,
  SUBSCRIPTION_KEYS: secrets.subscriptionKeys,
  RPC_WEBHOOK_SECRET: secrets.rpcWebhookSecret,
  DEMO_WALLET: 'true',
  DEMO_SLUG: 'demo',
});
