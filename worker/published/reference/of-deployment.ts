import { type PublishedDocument, withPaymentInfo } from '../discovery.ts';

interface Deployment {
  baseUrl: string;
  operator: { name: string; url: string } | null;
  usdcMint: string;
  /** Header in which the chain data provider signs. */
  chainHeader: string;
}
interface Document extends PublishedDocument {
  info: object;
  components?: { securitySchemes?: object };
}

/** Adds what differs between deployments, so that requests can be sent as shown. */
export function ofDeployment<D extends Document>(document: D, { baseUrl, operator, usdcMint, chainHeader }: Deployment) {
  const schemes = (document.components?.securitySchemes ?? {}) as { chainSignature?: object };
  const securitySchemes = { ...schemes, chainSignature: { ...schemes.chainSignature, name: chainHeader } };
  const tags = document.tags?.map((tag) => (tag.externalDocs ? { ...tag, externalDocs: { url: baseUrl + tag.externalDocs.url } } : tag));
  return {
    ...withPaymentInfo(document, usdcMint),
    tags,
    info: { ...document.info, contact: operator ?? { name: 'The operator of this deployment', url: baseUrl } },
    servers: [{ url: baseUrl, description: 'This deployment' }],
    components: { ...document.components, securitySchemes },
  };
}
