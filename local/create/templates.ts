/** Starters in the order of the menu. Each is the project of `examples/` with its name. */
export const TEMPLATES = {
  'api-per-request': {
    makes: 'An API on Cloudflare Workers, sold one request at a time (x402)',
    next: ['npx wrangler dev --port 3000'],
    variables: '.dev.vars',
  },
  express: { makes: 'One paid route of an Express server (x402)', next: ['node --env-file=.env server.ts'], variables: '.env' },
  'membership-next': {
    makes: "A members' page with Next.js, from checkout and webhook",
    next: ['npx next dev'],
    variables: '.env.local',
  },
  'agent-that-buys': {
    makes: 'An agent that opens an account, buys a plan and pays within a budget',
    next: ['node --env-file=.env agent.ts <URLs to buy>'],
    variables: '.env',
  },
} as const;
export type Template = keyof typeof TEMPLATES;

export const isTemplate = (name: string): name is Template => Object.hasOwn(TEMPLATES, name);

/** Menu of the templates, one a line. */
export function menu(): string {
  const width = Math.max(...Object.keys(TEMPLATES).map(({ length }) => length));
  return Object.entries(TEMPLATES)
    .map(([name, { makes }]) => `  ${name.padEnd(width)}  ${makes}`)
    .join('\n');
}
