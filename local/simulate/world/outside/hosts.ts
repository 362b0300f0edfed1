/** Hosts that the service calls. */
export const NODES = ['node-one.example.com', 'node-two.example.com'] as const;
export const HOOKS = 'hooks.example.com';
export const PRICES = 'prices.example.com';
export const MAIL = 'mail.example.com';
export const PROCESSOR = 'processor.example.com';
