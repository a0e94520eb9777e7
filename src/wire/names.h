// How DynamoDB writes the enumerations of tables/requests.h and tables/schema.h. Constants.
#pragma once

#include <string_view>

#include "item/value.h"
#include "tables/requests.h"
#include "tables/schema.h"
#include "wire/fields.h"

namespace tidemark::wire {

template <>
struct NamesOf<tables::ReturnValues> {
  static constexpr std::string_view kNewerText =
      "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, "
      "ALL_NEW, UPDATE_NEW, NONE]";
  static constexpr EnumName<tables::ReturnValues> kRows[] = {
      {tables::ReturnValues::kAllNew, "ALL_NEW"},
      {tables::ReturnValues::kUpdatedOld, "UPDATED_OLD"},
      {tables::ReturnValues::kAllOld, "ALL_OLD"},
      {tables::ReturnValues::kNone, "NONE"},
      {tables::ReturnValues::kUpdatedNew, "UPDATED_NEW"},
  };
};
template <>
struct NamesOf<tables::OnConditionFailure> {
  static constexpr EnumName<tables::OnConditionFailure> kRows[] = {
      {tables::OnConditionFailure::kAllOld, "ALL_OLD"},
      {tables::OnConditionFailure::kNone, "NONE"},
  };
};
template <>
struct NamesOf<tables::Measure> {
  static constexpr EnumName<tables::Measure> kRows[] = {
      {tables::Measure::kIndexes, "INDEXES"},
      {tables::Measure::kTotal, "TOTAL"},
      {tables::Measure::kNone, "NONE"},
  };
};
template <>
struct NamesOf<tables::Collections> {
  static constexpr EnumName<tables::Collections> kRows[] = {
      {tables::Collections::kSize, "SIZE"},
      {tables::Collections::kNone, "NONE"},
  };
};
template <>
struct NamesOf<tables::TableClass> {
  static constexpr EnumName<tables::TableClass> kRows[] = {
      {tables::TableClass::kStandard, "STANDARD"},
      {tables::TableClass::kInfrequentAccess, "STANDARD_INFREQUENT_ACCESS"},
  };
};
template <>
struct NamesOf<tables::Select> {
  static constexpr EnumName<tables::Select> kRows[] = {
      {tables::Select::kSpecificAttributes, "SPECIFIC_ATTRIBUTES"},
      {tables::Select::kCount, "COUNT"},
      {tables::Select::kAllAttributes, "ALL_ATTRIBUTES"},
      {tables::Select::kAllProjectedAttributes, "ALL_PROJECTED_ATTRIBUTES"},
  };
};
template <>
struct NamesOf<tables::CancellationCode> {
  static constexpr EnumName<tables::CancellationCode> kRows[] = {
      {tables::CancellationCode::kNone, "None"},
      {tables::CancellationCode::kConditionalCheckFailed, "ConditionalCheckFailed"},
      {tables::CancellationCode::kTransactionConflict, "TransactionConflict"},
      {tables::CancellationCode::kValidationError, "ValidationError"},
  };
};
template <>
struct NamesOf<tables::ProjectionKind> {
  static constexpr EnumName<tables::ProjectionKind> kRows[] = {
      {tables::ProjectionKind::kAll, "ALL"},
      {tables::ProjectionKind::kInclude, "INCLUDE"},
      {tables::ProjectionKind::kKeysOnly, "KEYS_ONLY"},
  };
};
template <>
struct NamesOf<tables::StreamView> {
  static constexpr EnumName<tables::StreamView> kRows[] = {
      {tables::StreamView::kNewImage, "NEW_IMAGE"},
      {tables::StreamView::kOldImage, "OLD_IMAGE"},
      {tables::StreamView::kNewAndOldImages, "NEW_AND_OLD_IMAGES"},
      {tables::StreamView::kKeysOnly, "KEYS_ONLY"},
  };
};
template <>
struct NamesOf<tables::TableState> {
  static constexpr EnumName<tables::TableState> kRows[] = {
      {tables::TableState::kCreating, "CREATING"},
      {tables::TableState::kUpdating, "UPDATING"},
      {tables::TableState::kDeleting, "DELETING"},
      {tables::TableState::kActive, "ACTIVE"},
  };
};
template <>
struct NamesOf<tables::IndexState> {
  static constexpr EnumName<tables::IndexState> kRows[] = {
      {tables::IndexState::kCreating, "CREATING"},
      {tables::IndexState::kDeleting, "DELETING"},
      {tables::IndexState::kActive, "ACTIVE"},
  };
};
template <>
struct NamesOf<item::Type> {
  static constexpr EnumName<item::Type> kRows[] = {
      {item::Type::kBinary, "B"},
      {item::Type::kNumber, "N"},
      {item::Type::kString, "S"},
  };
};
template <>
struct NamesOf<tables::ChangeKind> {
  static constexpr EnumName<tables::ChangeKind> kRows[] = {
      {tables::ChangeKind::kInsert, "INSERT"},
      {tables::ChangeKind::kModify, "MODIFY"},
      {tables::ChangeKind::kRemove, "REMOVE"},
  };
};
template <>
struct NamesOf<tables::IteratorKind> {
  static constexpr EnumName<tables::IteratorKind> kRows[] = {
      {tables::IteratorKind::kAfterSequence, "AFTER_SEQUENCE_NUMBER"},
      {tables::IteratorKind::kLatest, "LATEST"},
      {tables::IteratorKind::kTrimHorizon, "TRIM_HORIZON"},
      {tables::IteratorKind::kAtSequence, "AT_SEQUENCE_NUMBER"},
  };
};

}  // namespace tidemark::wire
