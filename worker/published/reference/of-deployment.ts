/** Adds the deployment's URL and operator to the document, so that its requests can be sent as shown. */
export const ofDeployment = <D extends { info: object }>(document: D, baseUrl: string, operator: { name: string; url: string } | null) => ({
  ...document,
  info: { ...document.info, contact: operator ?? { name: 'The operator of this deployment', url: baseUrl } },
  servers: [{ url: baseUrl, description: 'This deployment' }],
});
