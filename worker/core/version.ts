/** Version of the interface (OpenAPI info.version, X-Svc-Api-Version). Changes with the contract. */
export const VERSION = '1.0.0';
