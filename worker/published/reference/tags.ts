/** The groups of the reference, in the order in which an integration meets them, and their tags with a line for each. */
const GROUPS: Record<string, Record<string, string>> = {
  'Begin here': {
    Authentication: 'Make an account and a session: by password, by a wallet, or by Google and GitHub.',
    'API keys': 'What your server shows in `X-Svc-Key`. A live key acts on real money, a sandbox key on the sandbox.',
    Account: 'The account, its checkout pages’ looks, its security and its figures.',
    'Set-up': 'What has to be there before a sale, and the call that mends what is missing.',
    Sandbox: 'Try everything with test money: the live code on a simulated chain, with a clock to move.',
  },
  'Sell on a page': {
    Products: 'What you sell, for how much, and who is paid.',
    Checkout: 'From the product’s page to a payment under way: what a checkout page calls, and links for buyers you know.',
    Payments: 'How payments stand, money that missed its session, and paying back.',
    Memberships: 'Who may enter, and until when.',
    Receipts: 'Signed receipts, their proofs, papers and exports.',
  },
  'Sell by the request': {
    Entitlements: 'Units and time of your customers: use them, grant them, free them again.',
    x402: 'Settle x402 payments, as a facilitator too, and buy plans by them.',
    Rails: 'The ways of being paid, and your settings of each.',
    'Agent bootstrap': 'An agent becomes a merchant without a person.',
    Metered: 'Channels that are paid by vouchers while they are used.',
    Subscriptions: 'Plans on the chain that renew by themselves.',
  },
  Webhooks: {
    Webhooks: 'Endpoints for signed events, their deliveries, tests and replays.',
    Events: 'What your endpoints receive. Be idempotent on `id`.',
    Integrations: 'Automation platforms, and connectors of messengers.',
  },
  Operations: {
    Billing: 'Your plan here, and what it allows.',
    Support: 'Ask the people who run this deployment.',
    System: 'Whether the service is well.',
    'Provider webhooks': 'For chain data providers and payment processors, signed by them.',
  },
};

interface Tagged {
  tags?: string[];
}

/** Of the tags that the document uses, each with its line, and the groups that hold any of them. */
export function tagsOf(operations: Tagged[]) {
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  const groups = Object.entries(GROUPS)
    .map(([name, tags]) => ({ name, tags: Object.keys(tags).filter((tag) => used.has(tag)) }))
    .filter(({ tags }) => tags.length > 0);
  const words = Object.assign({}, ...Object.values(GROUPS)) as Record<string, string>;
  return {
    tags: groups.flatMap((group) => group.tags.map((name) => ({ name, description: words[name]! }))),
    'x-tagGroups': groups,
  };
}
