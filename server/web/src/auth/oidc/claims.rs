//! The provider's additional claims, and the client that reads them.

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, Client, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet,
    IdTokenClaims, IdTokenFields, StandardErrorResponse, StandardTokenResponse,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Non-standard claims. The settings name the one with the groups.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct More {
    #[serde(flatten)]
    claims: Map<String, Value>,
}

impl AdditionalClaims for More {}

impl More {
    /// Whether a claim is this text, or a list that contains it.
    pub(super) fn lists(&self, claim: &str, wanted: &str) -> bool {
        match self.claims.get(claim) {
            Some(Value::Array(all)) => all.iter().any(|one| one == wanted),
            Some(one) => one == wanted,
            None => false,
        }
    }
}

/// Claims of an ID token.
pub(super) type Claims = IdTokenClaims<More, CoreGenderClaim>;

type Fields = IdTokenFields<
    More,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;

/// The client, once the provider's metadata is known.
pub(super) type OfProvider<Auth = EndpointSet, Maybe = EndpointMaybeSet> = Client<
    More,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    Auth,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    Maybe,
    Maybe,
>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_a_list_or_one_word() {
        let more: More = serde_json::from_str(r#"{"groups": ["a", "ops"], "role": "ops", "n": 1}"#).unwrap();
        assert!(more.lists("groups", "ops") && more.lists("role", "ops"));
        assert!(!more.lists("groups", "op") && !more.lists("n", "1") && !more.lists("absent", "ops"));
    }
}
