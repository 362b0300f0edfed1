import { formatMoney, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const receiptProofLetter: Letter<LetterFacts['receipt_proof']> = {
  pref: null,
  to: 'anyone',
  isOfMerchant: true,
  path: ({ receipt_id }) => `/r/${receipt_id}`,
  values: ({ product, seller, amount, name = '' }, locale) => ({
    name,
    product: plainName(product),
    seller: plainName(seller),
    amount: formatMoney(locale, amount),
  }),
  quoted: ({ message }) => message,
  words: {
    en: {
      subject: 'Proof of payment: {product}',
      greeting: 'Hello {name},',
      lines: ['{seller} sends you the proof of a payment of {amount} for {product}.', 'It is signed: anybody can check it.'],
      button: 'Show the proof',
    },
    es: {
      subject: 'Justificante de pago: {product}',
      greeting: 'Hola, {name}:',
      lines: ['{seller} le envía el justificante de un pago de {amount} por {product}.', 'Está firmado: cualquiera puede comprobarlo.'],
      button: 'Ver el justificante',
    },
    de: {
      subject: 'Zahlungsnachweis: {product}',
      greeting: 'Guten Tag {name},',
      lines: ['{seller} sendet Ihnen den Nachweis einer Zahlung von {amount} für {product}.', 'Er ist signiert: Jeder kann ihn prüfen.'],
      button: 'Nachweis zeigen',
    },
    fr: {
      subject: 'Preuve de paiement : {product}',
      greeting: 'Bonjour {name},',
      lines: ['{seller} vous envoie la preuve d’un paiement de {amount} pour {product}.', 'Elle est signée : chacun peut la vérifier.'],
      button: 'Voir la preuve',
    },
    'pt-BR': {
      subject: 'Comprovante de pagamento: {product}',
      greeting: 'Olá, {name},',
      lines: [
        '{seller} envia a você o comprovante de um pagamento de {amount} por {product}.',
        'Ele é assinado: qualquer pessoa pode conferi-lo.',
      ],
      button: 'Ver o comprovante',
    },
    ja: {
      subject: '支払い証明: {product}',
      greeting: '{name}様',
      lines: ['{seller}から、{product}への{amount}の支払い証明をお送りします。', '証明は署名されており、どなたでも確認できます。'],
      button: '証明を見る',
    },
  },
};
