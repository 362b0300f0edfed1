/**
 * Library of passkeys, loaded by the first ceremony. Its certificates need the metadata first.
 * @module
 */

import 'reflect-metadata';

export { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
export { decodeAttestationObject } from '@simplewebauthn/server/helpers';
