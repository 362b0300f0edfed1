import { SmallDiscord } from './discord.ts';
import { serveParts } from './http.ts';
import { SmallIdentity } from './identity.ts';
import { SmallProcessor } from './processor.ts';
import { SmallTelegram } from './telegram.ts';

/**
 * Starts simulated external services: payment processor, OpenID Connect provider, GitHub, Telegram, Discord. `webhookUrl`: target of
 * automatic processor events. `asks`: providers show a page to choose a person.
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
