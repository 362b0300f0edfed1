/** The document of one deployment: requests in it can be sent as they stand, and its operator can be reached. */
export const ofDeployment = <D extends { info: object }>(document: D, baseUrl: string, operator: { name: string; url: string } | null) => ({
  ...document,
  info: { ...document.info, contact: operator ?? { name: 'The operator of this deployment', url: baseUrl } },
  servers: [{ url: baseUrl, description: 'This deployment' }],
});
