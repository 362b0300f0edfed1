import { SmallDiscord } from './discord.ts';
import { serveParts } from './http.ts';
import { SmallIdentity } from './identity.ts';
import { SmallProcessor } from './processor.ts';
import { SmallTelegram } from './telegram.ts';

/**
 * Parties outside of the service, small: a payment processor, a provider of OpenID Connect, a GitHub, a Telegram and a Discord. `webhookUrl`: where the
 * processor's events go by themselves. `asks`: the providers show a page with people to choose from.
 */
export async function startOutside({ port = 0, webhookUrl = null as string | null, asks = false } = {}): Promise<{
  url: string;
  close(): Promise<void>;
}> {
  const processor = new SmallProcessor(webhookUrl);
  const identity = new SmallIdentity(asks);
  const [telegram, discord] = [new SmallTelegram(), new SmallDiscord()];
  return serveParts(
    {
      v1: (asked) => processor.api(asked),
      pay: (asked) => processor.page(asked),
      world: (asked) => processor.control(asked),
      openid: (asked) => identity.openid(asked),
      github: (asked) => identity.github(asked),
      'github-api': (asked) => identity.github(asked),
      identity: (asked) => identity.control(asked),
      telegram: (asked) => telegram.api(asked),
      'telegram-world': (asked) => telegram.control(asked),
      discord: (asked) => discord.api(asked),
      'discord-world': (asked) => discord.control(asked),
    },
    port,
  );
}
