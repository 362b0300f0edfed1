/** Of the interface (OpenAPI info.version, X-Svc-Api-Version): it changes when the contract does. */
export const VERSION = '1.0.0';
