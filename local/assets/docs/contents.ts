interface Chapter {
  title: string;
  /** Paths under docs/, without `.md`. */
  pages: string[];
}

/** Pages of `/docs` in reading order. Every file under docs/ is one of them. */
export const CHAPTERS: readonly Chapter[] = [
  { title: 'Begin', pages: ['quickstart', 'sandbox', 'sandbox-in-a-box', 'go-live', 'discovery'] },
  {
    title: 'Sell',
    pages: [
      'checkout',
      'pay-per-request',
      'facilitator',
      'without-an-sdk',
      'metered-sessions',
      'subscriptions',
      'membership-delivery',
      'webhooks',
      'email-and-receipts',
      'unmatched-and-refunds',
      'books-and-taxes',
    ],
  },
  { title: 'Agents', pages: ['agents'] },
  {
    title: 'Your account',
    pages: ['dashboard', 'customers', 'account', 'secure-your-account', 'work-as-a-team', 'keys-for-servers', 'audit-log'],
  },
  { title: 'Guarantees', pages: ['guarantees', 'security-model'] },
  {
    title: 'Move here',
    pages: ['migration/from-stripe', 'migration/from-polar', 'migration/from-helio', 'migration/from-the-cdp-facilitator'],
  },
  {
    title: 'Reference',
    pages: [
      'reference/limits',
      'reference/errors',
      'reference/events',
      'reference/permissions',
      'reference/configuration',
      'reference/metrics',
    ],
  },
  {
    title: 'Operations',
    pages: [
      'operations/deploy',
      'operations/secrets',
      'operations/integrations',
      'operations/monitoring',
      'operations/incidents',
      'operations/backup',
      'operations/upgrade',
      'operations/capacity',
      'operations/several-databases',
      'operations/cost',
      'operations/data-retention',
    ],
  },
  {
    title: 'Architecture',
    pages: [
      'architecture/overview',
      'architecture/glossary',
      'architecture/adding-a-rail',
      'architecture/adding-a-platform',
      'architecture/adding-a-page',
      'architecture/adding-an-email',
      'architecture/simulator',
    ],
  },
];
