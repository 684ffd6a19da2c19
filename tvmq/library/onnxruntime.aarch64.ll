; aa5899612a91ff6b10293856b1e6484c0ad520d788a88013ee290bb17ad9274f is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'onnxruntime.c'
source_filename = "onnxruntime.c"
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

%struct.ort_op = type { i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, [4 x ptr], ptr, ptr, ptr, [2 x ptr] }
%struct.text = type { i64, [512 x i8] }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.ort_api_base = type { ptr, ptr }
%struct.ort_api = type { ptr, [25 x ptr], ptr, ptr, ptr, [22 x ptr], ptr, [9 x ptr], ptr, ptr, [2 x ptr], ptr, [9 x ptr], ptr, ptr, ptr, ptr, [7 x ptr], ptr, ptr, [2 x ptr], ptr, ptr, ptr, ptr, [5 x ptr], ptr, ptr, ptr, [172 x ptr], ptr }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.kernel = type { ptr, ptr, i32, [8 x ptr] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.run = type { ptr, ptr, %struct.model_description, ptr, ptr, ptr, ptr, ptr }
%struct.block = type { ptr, i64 }
%struct.model_buffer = type { ptr, i64 }
%struct.job = type { ptr, ptr }

@.str = private unnamed_addr constant [58 x i8] c"the library needs onnxruntime 1.17 or newer, and this is \00", align 1
@owner = internal unnamed_addr global ptr null, align 8
@kept_domain = internal global ptr null, align 8
@model_op = internal constant %struct.ort_op { i32 17, ptr null, ptr @get_name, ptr @get_provider, ptr @get_input_type, ptr @count_inputs, ptr @get_output_type, ptr @count_outputs, ptr null, ptr @destroy_kernel, ptr @get_zero, ptr @get_zero, ptr @get_zero, [4 x ptr] zeroinitializer, ptr @create_kernel, ptr @compute, ptr null, [2 x ptr] zeroinitializer }, align 8
@type_number.names = internal unnamed_addr constant [14 x [8 x i8]] [[8 x i8] zeroinitializer, [8 x i8] c"float32\00", [8 x i8] c"uint8\00\00\00", [8 x i8] c"int8\00\00\00\00", [8 x i8] c"uint16\00\00", [8 x i8] c"int16\00\00\00", [8 x i8] c"int32\00\00\00", [8 x i8] c"int64\00\00\00", [8 x i8] zeroinitializer, [8 x i8] c"bool\00\00\00\00", [8 x i8] c"float16\00", [8 x i8] c"float64\00", [8 x i8] c"uint32\00\00", [8 x i8] c"uint64\00\00"], align 1
@.str.3 = private unnamed_addr constant [35 x i8] c"it has too many dynamic dimensions\00", align 1
@.str.4 = private unnamed_addr constant [39 x i8] c"onnxruntime has no memory for a kernel\00", align 1
@.str.5 = private unnamed_addr constant [11 x i8] c"model_hash\00", align 1
@.str.6 = private unnamed_addr constant [123 x i8] c"the ONNX file and the library are of different exports, or the node has no attribute model_hash; take both from one folder\00", align 1
@.str.7 = private unnamed_addr constant [6 x i8] c"tasks\00", align 1
@.str.9 = private unnamed_addr constant [11 x i8] c"no integer\00", align 1
@.str.10 = private unnamed_addr constant [12 x i8] c"the number \00", align 1
@.str.11 = private unnamed_addr constant [44 x i8] c" as attribute tasks; give it one from 1 to \00", align 1
@.str.14 = private unnamed_addr constant [22 x i8] c" and the model takes \00", align 1
@.str.18 = private unnamed_addr constant [7 x i8] c", ...]\00", align 1
@.str.19 = private unnamed_addr constant [2 x i8] c"]\00", align 1
@.str.20 = private unnamed_addr constant [36 x i8] c"onnxruntime has no memory for a run\00", align 1

; Function Attrs: nounwind
define ptr @RegisterCustomOps(ptr noundef %0, ptr nocapture noundef readonly %1) local_unnamed_addr #0 {
  %3 = alloca %struct.text, align 8
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.model_description, align 8
  %6 = alloca ptr, align 8
  %7 = alloca %struct.text, align 8
  %8 = getelementptr inbounds %struct.ort_api_base, ptr %1, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = tail call ptr %9() #8
  %11 = load i8, ptr %10, align 1
  %12 = add i8 %11, -48
  %13 = icmp ult i8 %12, 10
  br i1 %13, label %14, label %26

14:                                               ; preds = %2, %14
  %15 = phi i32 [ %22, %14 ], [ 0, %2 ]
  %16 = phi i8 [ %23, %14 ], [ %11, %2 ]
  %17 = phi ptr [ %20, %14 ], [ %10, %2 ]
  %18 = zext i8 %16 to i32
  %19 = mul i32 %15, 10
  %20 = getelementptr inbounds i8, ptr %17, i64 1
  %21 = add i32 %19, -48
  %22 = add i32 %21, %18
  %23 = load i8, ptr %20, align 1
  %24 = add i8 %23, -48
  %25 = icmp ult i8 %24, 10
  br i1 %25, label %14, label %26, !llvm.loop !3

26:                                               ; preds = %14, %2
  %27 = phi i32 [ 0, %2 ], [ %22, %14 ]
  %28 = phi ptr [ %10, %2 ], [ %20, %14 ]
  %29 = phi i8 [ %11, %2 ], [ %23, %14 ]
  %30 = icmp ne i8 %29, 0
  %31 = zext i1 %30 to i64
  %32 = getelementptr i8, ptr %28, i64 %31
  %33 = load i8, ptr %32, align 1
  %34 = add i8 %33, -48
  %35 = icmp ult i8 %34, 10
  br i1 %35, label %36, label %48

36:                                               ; preds = %26, %36
  %37 = phi i32 [ %44, %36 ], [ 0, %26 ]
  %38 = phi i8 [ %45, %36 ], [ %33, %26 ]
  %39 = phi ptr [ %42, %36 ], [ %32, %26 ]
  %40 = zext i8 %38 to i32
  %41 = mul i32 %37, 10
  %42 = getelementptr inbounds i8, ptr %39, i64 1
  %43 = add i32 %41, -48
  %44 = add i32 %43, %40
  %45 = load i8, ptr %42, align 1
  %46 = add i8 %45, -48
  %47 = icmp ult i8 %46, 10
  br i1 %47, label %36, label %48, !llvm.loop !3

48:                                               ; preds = %36, %26
  %49 = phi i32 [ 0, %26 ], [ %44, %36 ]
  %50 = icmp ugt i32 %27, 1
  %51 = icmp eq i32 %27, 1
  %52 = icmp ugt i32 %49, 16
  %53 = select i1 %51, i1 %52, i1 false
  %54 = select i1 %50, i1 true, i1 %53
  br i1 %54, label %56, label %55

55:                                               ; preds = %48
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  br label %60

56:                                               ; preds = %48
  %57 = load ptr, ptr %1, align 8
  %58 = tail call ptr %57(i32 noundef 17) #8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  store ptr null, ptr %6, align 8
  %59 = icmp eq ptr %58, null
  br i1 %59, label %60, label %138

60:                                               ; preds = %55, %56
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %7) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %7, align 8
  %61 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %62 = load ptr, ptr %5, align 8
  %63 = load i8, ptr %62, align 1
  %64 = icmp eq i8 %63, 0
  br i1 %64, label %78, label %65

65:                                               ; preds = %60, %70
  %66 = phi i8 [ %74, %70 ], [ %63, %60 ]
  %67 = phi ptr [ %71, %70 ], [ %62, %60 ]
  %68 = load i64, ptr %7, align 8
  %69 = icmp ult i64 %68, 511
  br i1 %69, label %70, label %78

70:                                               ; preds = %65
  %71 = getelementptr inbounds i8, ptr %67, i64 1
  %72 = add nuw nsw i64 %68, 1
  store i64 %72, ptr %7, align 8
  %73 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %68
  store i8 %66, ptr %73, align 1
  %74 = load i8, ptr %71, align 1
  %75 = icmp eq i8 %74, 0
  br i1 %75, label %76, label %65, !llvm.loop !5

76:                                               ; preds = %70
  %77 = load i64, ptr %7, align 8
  br label %78

78:                                               ; preds = %65, %76, %60
  %79 = phi i64 [ 0, %60 ], [ %77, %76 ], [ %68, %65 ]
  %80 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %79
  store i8 0, ptr %80, align 1
  %81 = load i64, ptr %7, align 8
  %82 = icmp ult i64 %81, 511
  br i1 %82, label %83, label %92

83:                                               ; preds = %78
  %84 = add nuw nsw i64 %81, 1
  store i64 %84, ptr %7, align 8
  %85 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %81
  store i8 58, ptr %85, align 1
  %86 = load i64, ptr %7, align 8
  %87 = icmp ult i64 %86, 511
  br i1 %87, label %88, label %92

88:                                               ; preds = %83
  %89 = add nuw nsw i64 %86, 1
  store i64 %89, ptr %7, align 8
  %90 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %86
  store i8 32, ptr %90, align 1
  %91 = load i64, ptr %7, align 8
  br label %92

92:                                               ; preds = %78, %83, %88
  %93 = phi i64 [ %91, %88 ], [ %86, %83 ], [ %81, %78 ]
  %94 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %93
  store i8 0, ptr %94, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  br label %95

95:                                               ; preds = %100, %92
  %96 = phi i8 [ %104, %100 ], [ 116, %92 ]
  %97 = phi ptr [ %101, %100 ], [ @.str, %92 ]
  %98 = load i64, ptr %7, align 8
  %99 = icmp ult i64 %98, 511
  br i1 %99, label %100, label %108

100:                                              ; preds = %95
  %101 = getelementptr inbounds i8, ptr %97, i64 1
  %102 = add nuw nsw i64 %98, 1
  store i64 %102, ptr %7, align 8
  %103 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %98
  store i8 %96, ptr %103, align 1
  %104 = load i8, ptr %101, align 1
  %105 = icmp eq ptr %101, getelementptr inbounds ([58 x i8], ptr @.str, i64 0, i64 57)
  br i1 %105, label %106, label %95, !llvm.loop !5

106:                                              ; preds = %100
  %107 = load i64, ptr %7, align 8
  br label %108

108:                                              ; preds = %95, %106
  %109 = phi i64 [ %107, %106 ], [ %98, %95 ]
  %110 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %109
  store i8 0, ptr %110, align 1
  %111 = load ptr, ptr %8, align 8
  %112 = call ptr %111() #8
  %113 = load i8, ptr %112, align 1
  %114 = icmp eq i8 %113, 0
  br i1 %114, label %126, label %115

115:                                              ; preds = %108, %120
  %116 = phi i8 [ %124, %120 ], [ %113, %108 ]
  %117 = phi ptr [ %121, %120 ], [ %112, %108 ]
  %118 = load i64, ptr %7, align 8
  %119 = icmp ult i64 %118, 511
  br i1 %119, label %120, label %126

120:                                              ; preds = %115
  %121 = getelementptr inbounds i8, ptr %117, i64 1
  %122 = add nuw nsw i64 %118, 1
  store i64 %122, ptr %7, align 8
  %123 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %118
  store i8 %116, ptr %123, align 1
  %124 = load i8, ptr %121, align 1
  %125 = icmp eq i8 %124, 0
  br i1 %125, label %126, label %115, !llvm.loop !5

126:                                              ; preds = %115, %120, %108
  %127 = load i64, ptr %7, align 8
  %128 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %127
  store i8 0, ptr %128, align 1
  %129 = load ptr, ptr %1, align 8
  %130 = call ptr %129(i32 noundef 1) #8
  %131 = icmp eq ptr %130, null
  br i1 %131, label %136, label %132

132:                                              ; preds = %126
  %133 = load ptr, ptr %130, align 8
  %134 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1
  %135 = call ptr %133(i32 noundef 9, ptr noundef nonnull %134) #8
  br label %136

136:                                              ; preds = %126, %132
  %137 = phi ptr [ %135, %132 ], [ null, %126 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %7) #9
  br label %195

138:                                              ; preds = %56
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %3) #9
  %139 = load atomic i64, ptr @owner acquire, align 8
  %140 = inttoptr i64 %139 to ptr
  %141 = icmp eq ptr %58, %140
  br i1 %141, label %142, label %144

142:                                              ; preds = %138
  %143 = load ptr, ptr @kept_domain, align 8
  store ptr %143, ptr %6, align 8
  br label %190

144:                                              ; preds = %138
  %145 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 0
  store i8 116, ptr %145, align 8
  %146 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 1
  store i8 118, ptr %146, align 1
  %147 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 2
  store i8 109, ptr %147, align 2
  %148 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 3
  store i8 113, ptr %148, align 1
  %149 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 4
  store i8 46, ptr %149, align 4
  store i64 5, ptr %3, align 8
  %150 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 5
  store i8 0, ptr %150, align 1
  %151 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %152 = load ptr, ptr %4, align 8
  %153 = load i8, ptr %152, align 1
  %154 = icmp eq i8 %153, 0
  br i1 %154, label %168, label %155

155:                                              ; preds = %144, %160
  %156 = phi i8 [ %164, %160 ], [ %153, %144 ]
  %157 = phi ptr [ %161, %160 ], [ %152, %144 ]
  %158 = load i64, ptr %3, align 8
  %159 = icmp ult i64 %158, 511
  br i1 %159, label %160, label %168

160:                                              ; preds = %155
  %161 = getelementptr inbounds i8, ptr %157, i64 1
  %162 = add nuw nsw i64 %158, 1
  store i64 %162, ptr %3, align 8
  %163 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %158
  store i8 %156, ptr %163, align 1
  %164 = load i8, ptr %161, align 1
  %165 = icmp eq i8 %164, 0
  br i1 %165, label %166, label %155, !llvm.loop !5

166:                                              ; preds = %160
  %167 = load i64, ptr %3, align 8
  br label %168

168:                                              ; preds = %155, %166, %144
  %169 = phi i64 [ 5, %144 ], [ %167, %166 ], [ %158, %155 ]
  %170 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %169
  store i8 0, ptr %170, align 1
  %171 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 2
  %172 = load ptr, ptr %171, align 8
  %173 = call ptr %172(ptr noundef nonnull %145, ptr noundef nonnull %6) #8
  %174 = icmp eq ptr %173, null
  br i1 %174, label %175, label %188

175:                                              ; preds = %168
  %176 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 3
  %177 = load ptr, ptr %176, align 8
  %178 = load ptr, ptr %6, align 8
  %179 = call ptr %177(ptr noundef %178, ptr noundef nonnull @model_op) #8
  %180 = icmp eq ptr %179, null
  br i1 %180, label %181, label %188

181:                                              ; preds = %175
  %182 = load ptr, ptr %6, align 8
  %183 = ptrtoint ptr %182 to i64
  %184 = cmpxchg ptr @kept_domain, i64 0, i64 %183 acq_rel monotonic, align 8
  %185 = extractvalue { i64, i1 } %184, 1
  br i1 %185, label %186, label %190

186:                                              ; preds = %181
  %187 = ptrtoint ptr %58 to i64
  store atomic i64 %187, ptr @owner release, align 8
  br label %190

188:                                              ; preds = %168, %175
  %189 = phi ptr [ %179, %175 ], [ %173, %168 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  br label %195

190:                                              ; preds = %142, %186, %181
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %191 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 4
  %192 = load ptr, ptr %191, align 8
  %193 = load ptr, ptr %6, align 8
  %194 = call ptr %192(ptr noundef %0, ptr noundef %193) #8
  br label %195

195:                                              ; preds = %188, %190, %136
  %196 = phi ptr [ %137, %136 ], [ %194, %190 ], [ %189, %188 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  ret ptr %196
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #2

declare i32 @model_describe(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal ptr @get_name(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = load ptr, ptr %2, align 8
  ret ptr %4
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal noalias ptr @get_provider(ptr nocapture readnone %0) #4 {
  ret ptr null
}

; Function Attrs: nounwind
define internal i32 @get_input_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_input(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 1
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !6

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !7

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_inputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 6
  %5 = load i32, ptr %4, align 4
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal i32 @get_output_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_output(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 1
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !6

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !7

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_outputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 7
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal void @destroy_kernel(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  %3 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 0
  %4 = load ptr, ptr %3, align 8
  %5 = icmp eq ptr %4, null
  br i1 %5, label %29, label %18

6:                                                ; preds = %119, %123, %130
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds %struct.ort_api, ptr %7, i64 0, i32 14
  %9 = load ptr, ptr %8, align 8
  %10 = load ptr, ptr %2, align 8
  %11 = tail call ptr %9(ptr noundef %10, ptr noundef nonnull %0) #8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %17, label %13

13:                                               ; preds = %6
  %14 = load ptr, ptr %0, align 8
  %15 = getelementptr inbounds %struct.ort_api, ptr %14, i64 0, i32 24
  %16 = load ptr, ptr %15, align 8
  tail call void %16(ptr noundef nonnull %11) #8
  br label %17

17:                                               ; preds = %6, %13
  ret void

18:                                               ; preds = %1
  %19 = load ptr, ptr %0, align 8
  %20 = getelementptr inbounds %struct.ort_api, ptr %19, i64 0, i32 14
  %21 = load ptr, ptr %20, align 8
  %22 = load ptr, ptr %2, align 8
  %23 = tail call ptr %21(ptr noundef %22, ptr noundef nonnull %4) #8
  %24 = icmp eq ptr %23, null
  br i1 %24, label %29, label %25

25:                                               ; preds = %18
  %26 = load ptr, ptr %0, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %26, i64 0, i32 24
  %28 = load ptr, ptr %27, align 8
  tail call void %28(ptr noundef nonnull %23) #8
  br label %29

29:                                               ; preds = %1, %18, %25
  %30 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %31, null
  br i1 %32, label %44, label %33

33:                                               ; preds = %29
  %34 = load ptr, ptr %0, align 8
  %35 = getelementptr inbounds %struct.ort_api, ptr %34, i64 0, i32 14
  %36 = load ptr, ptr %35, align 8
  %37 = load ptr, ptr %2, align 8
  %38 = tail call ptr %36(ptr noundef %37, ptr noundef nonnull %31) #8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %44, label %40

40:                                               ; preds = %33
  %41 = load ptr, ptr %0, align 8
  %42 = getelementptr inbounds %struct.ort_api, ptr %41, i64 0, i32 24
  %43 = load ptr, ptr %42, align 8
  tail call void %43(ptr noundef nonnull %38) #8
  br label %44

44:                                               ; preds = %40, %33, %29
  %45 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %46 = load ptr, ptr %45, align 8
  %47 = icmp eq ptr %46, null
  br i1 %47, label %59, label %48

48:                                               ; preds = %44
  %49 = load ptr, ptr %0, align 8
  %50 = getelementptr inbounds %struct.ort_api, ptr %49, i64 0, i32 14
  %51 = load ptr, ptr %50, align 8
  %52 = load ptr, ptr %2, align 8
  %53 = tail call ptr %51(ptr noundef %52, ptr noundef nonnull %46) #8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %59, label %55

55:                                               ; preds = %48
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 24
  %58 = load ptr, ptr %57, align 8
  tail call void %58(ptr noundef nonnull %53) #8
  br label %59

59:                                               ; preds = %55, %48, %44
  %60 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %61 = load ptr, ptr %60, align 8
  %62 = icmp eq ptr %61, null
  br i1 %62, label %74, label %63

63:                                               ; preds = %59
  %64 = load ptr, ptr %0, align 8
  %65 = getelementptr inbounds %struct.ort_api, ptr %64, i64 0, i32 14
  %66 = load ptr, ptr %65, align 8
  %67 = load ptr, ptr %2, align 8
  %68 = tail call ptr %66(ptr noundef %67, ptr noundef nonnull %61) #8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %74, label %70

70:                                               ; preds = %63
  %71 = load ptr, ptr %0, align 8
  %72 = getelementptr inbounds %struct.ort_api, ptr %71, i64 0, i32 24
  %73 = load ptr, ptr %72, align 8
  tail call void %73(ptr noundef nonnull %68) #8
  br label %74

74:                                               ; preds = %70, %63, %59
  %75 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %76 = load ptr, ptr %75, align 8
  %77 = icmp eq ptr %76, null
  br i1 %77, label %89, label %78

78:                                               ; preds = %74
  %79 = load ptr, ptr %0, align 8
  %80 = getelementptr inbounds %struct.ort_api, ptr %79, i64 0, i32 14
  %81 = load ptr, ptr %80, align 8
  %82 = load ptr, ptr %2, align 8
  %83 = tail call ptr %81(ptr noundef %82, ptr noundef nonnull %76) #8
  %84 = icmp eq ptr %83, null
  br i1 %84, label %89, label %85

85:                                               ; preds = %78
  %86 = load ptr, ptr %0, align 8
  %87 = getelementptr inbounds %struct.ort_api, ptr %86, i64 0, i32 24
  %88 = load ptr, ptr %87, align 8
  tail call void %88(ptr noundef nonnull %83) #8
  br label %89

89:                                               ; preds = %85, %78, %74
  %90 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %91 = load ptr, ptr %90, align 8
  %92 = icmp eq ptr %91, null
  br i1 %92, label %104, label %93

93:                                               ; preds = %89
  %94 = load ptr, ptr %0, align 8
  %95 = getelementptr inbounds %struct.ort_api, ptr %94, i64 0, i32 14
  %96 = load ptr, ptr %95, align 8
  %97 = load ptr, ptr %2, align 8
  %98 = tail call ptr %96(ptr noundef %97, ptr noundef nonnull %91) #8
  %99 = icmp eq ptr %98, null
  br i1 %99, label %104, label %100

100:                                              ; preds = %93
  %101 = load ptr, ptr %0, align 8
  %102 = getelementptr inbounds %struct.ort_api, ptr %101, i64 0, i32 24
  %103 = load ptr, ptr %102, align 8
  tail call void %103(ptr noundef nonnull %98) #8
  br label %104

104:                                              ; preds = %100, %93, %89
  %105 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %106 = load ptr, ptr %105, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %119, label %108

108:                                              ; preds = %104
  %109 = load ptr, ptr %0, align 8
  %110 = getelementptr inbounds %struct.ort_api, ptr %109, i64 0, i32 14
  %111 = load ptr, ptr %110, align 8
  %112 = load ptr, ptr %2, align 8
  %113 = tail call ptr %111(ptr noundef %112, ptr noundef nonnull %106) #8
  %114 = icmp eq ptr %113, null
  br i1 %114, label %119, label %115

115:                                              ; preds = %108
  %116 = load ptr, ptr %0, align 8
  %117 = getelementptr inbounds %struct.ort_api, ptr %116, i64 0, i32 24
  %118 = load ptr, ptr %117, align 8
  tail call void %118(ptr noundef nonnull %113) #8
  br label %119

119:                                              ; preds = %115, %108, %104
  %120 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %121, null
  br i1 %122, label %6, label %123

123:                                              ; preds = %119
  %124 = load ptr, ptr %0, align 8
  %125 = getelementptr inbounds %struct.ort_api, ptr %124, i64 0, i32 14
  %126 = load ptr, ptr %125, align 8
  %127 = load ptr, ptr %2, align 8
  %128 = tail call ptr %126(ptr noundef %127, ptr noundef nonnull %121) #8
  %129 = icmp eq ptr %128, null
  br i1 %129, label %6, label %130

130:                                              ; preds = %123
  %131 = load ptr, ptr %0, align 8
  %132 = getelementptr inbounds %struct.ort_api, ptr %131, i64 0, i32 24
  %133 = load ptr, ptr %132, align 8
  tail call void %133(ptr noundef nonnull %128) #8
  br label %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal i32 @get_zero(ptr nocapture readnone %0, i64 %1) #4 {
  ret i32 0
}

; Function Attrs: nounwind
define internal ptr @create_kernel(ptr nocapture readnone %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) #0 {
  %5 = alloca [24 x i8], align 1
  %6 = alloca [24 x i8], align 1
  %7 = alloca %struct.model_description, align 8
  %8 = alloca %struct.text, align 8
  %9 = alloca i64, align 8
  %10 = alloca %struct.model_description, align 8
  %11 = alloca [128 x i8], align 4
  %12 = alloca i64, align 8
  %13 = alloca ptr, align 8
  %14 = alloca %struct.model_description, align 8
  %15 = alloca %struct.model_description, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %13) #9
  store ptr null, ptr %13, align 8
  %16 = call i32 @model_describe(ptr noundef nonnull %14) #8
  %17 = getelementptr inbounds %struct.model_description, ptr %14, i64 0, i32 3
  %18 = load ptr, ptr %17, align 8
  %19 = icmp eq ptr %18, null
  br i1 %19, label %20, label %26

20:                                               ; preds = %4
  %21 = call i32 @model_init() #8
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %26, label %23

23:                                               ; preds = %20
  %24 = call ptr @model_status_text(i32 noundef %21) #8
  %25 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 9, ptr noundef %24) #10
  br label %303

26:                                               ; preds = %4, %20
  %27 = call i32 @model_describe(ptr noundef nonnull %15) #8
  %28 = getelementptr inbounds %struct.model_description, ptr %15, i64 0, i32 8
  %29 = load i32, ptr %28, align 4
  %30 = icmp ugt i32 %29, 256
  br i1 %30, label %31, label %33

31:                                               ; preds = %26
  %32 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 9, ptr noundef nonnull @.str.3) #10
  br label %303

33:                                               ; preds = %26
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %10) #9
  %34 = call i32 @model_describe(ptr noundef nonnull %10) #8
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(128) %11, i8 0, i64 128, i1 false)
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store i64 128, ptr %12, align 8
  %35 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 19
  %36 = load ptr, ptr %35, align 8
  %37 = call ptr %36(ptr noundef %2, ptr noundef nonnull @.str.5, ptr noundef nonnull %11, ptr noundef nonnull %12) #8
  %38 = icmp eq ptr %37, null
  br i1 %38, label %39, label %61

39:                                               ; preds = %33
  %40 = getelementptr inbounds %struct.model_description, ptr %10, i64 0, i32 1
  %41 = load ptr, ptr %40, align 8
  %42 = load i8, ptr %11, align 4
  %43 = icmp eq i8 %42, 0
  br i1 %43, label %55, label %44

44:                                               ; preds = %39, %50
  %45 = phi i8 [ %53, %50 ], [ %42, %39 ]
  %46 = phi ptr [ %52, %50 ], [ %41, %39 ]
  %47 = phi ptr [ %51, %50 ], [ %11, %39 ]
  %48 = load i8, ptr %46, align 1
  %49 = icmp eq i8 %45, %48
  br i1 %49, label %50, label %55

50:                                               ; preds = %44
  %51 = getelementptr inbounds i8, ptr %47, i64 1
  %52 = getelementptr inbounds i8, ptr %46, i64 1
  %53 = load i8, ptr %51, align 1
  %54 = icmp eq i8 %53, 0
  br i1 %54, label %55, label %44, !llvm.loop !6

55:                                               ; preds = %50, %44, %39
  %56 = phi ptr [ %41, %39 ], [ %52, %50 ], [ %46, %44 ]
  %57 = phi i8 [ 0, %39 ], [ 0, %50 ], [ %45, %44 ]
  %58 = load i8, ptr %56, align 1
  %59 = icmp eq i8 %57, %58
  br i1 %59, label %60, label %64

60:                                               ; preds = %55
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  br label %67

61:                                               ; preds = %33
  %62 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %63 = load ptr, ptr %62, align 8
  call void %63(ptr noundef nonnull %37) #8
  br label %64

64:                                               ; preds = %55, %61
  %65 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 2, ptr noundef nonnull @.str.6) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  %66 = icmp eq ptr %65, null
  br i1 %66, label %67, label %303

67:                                               ; preds = %60, %64
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %8) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #9
  store i64 0, ptr %9, align 8
  %68 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 18
  %69 = load ptr, ptr %68, align 8
  %70 = call ptr %69(ptr noundef %2, ptr noundef nonnull @.str.7, ptr noundef nonnull %9) #8
  %71 = icmp eq ptr %70, null
  br i1 %71, label %77, label %72

72:                                               ; preds = %67
  %73 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %74 = load ptr, ptr %73, align 8
  call void %74(ptr noundef nonnull %70) #8
  %75 = load i64, ptr %9, align 8
  %76 = trunc i64 %75 to i32
  br label %83

77:                                               ; preds = %67
  %78 = load i64, ptr %9, align 8
  %79 = trunc i64 %78 to i32
  %80 = add i64 %78, -1
  %81 = icmp ult i64 %80, 64
  br i1 %81, label %82, label %83

82:                                               ; preds = %77
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %8) #9
  br label %281

83:                                               ; preds = %77, %72
  %84 = phi i32 [ %79, %77 ], [ %76, %72 ]
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %7)
  store i64 0, ptr %8, align 8
  %85 = call i32 @model_describe(ptr noundef nonnull %7) #8
  %86 = load ptr, ptr %7, align 8
  %87 = load i8, ptr %86, align 1
  %88 = icmp eq i8 %87, 0
  br i1 %88, label %100, label %89

89:                                               ; preds = %83, %94
  %90 = phi i8 [ %98, %94 ], [ %87, %83 ]
  %91 = phi ptr [ %95, %94 ], [ %86, %83 ]
  %92 = load i64, ptr %8, align 8
  %93 = icmp ult i64 %92, 511
  br i1 %93, label %94, label %100

94:                                               ; preds = %89
  %95 = getelementptr inbounds i8, ptr %91, i64 1
  %96 = add nuw nsw i64 %92, 1
  store i64 %96, ptr %8, align 8
  %97 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %92
  store i8 %90, ptr %97, align 1
  %98 = load i8, ptr %95, align 1
  %99 = icmp eq i8 %98, 0
  br i1 %99, label %100, label %89, !llvm.loop !5

100:                                              ; preds = %94, %89, %83
  %101 = load i64, ptr %8, align 8
  %102 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %101
  store i8 0, ptr %102, align 1
  %103 = load i64, ptr %8, align 8
  %104 = icmp ult i64 %103, 511
  br i1 %104, label %105, label %114

105:                                              ; preds = %100
  %106 = add nuw nsw i64 %103, 1
  store i64 %106, ptr %8, align 8
  %107 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %103
  store i8 58, ptr %107, align 1
  %108 = load i64, ptr %8, align 8
  %109 = icmp ult i64 %108, 511
  br i1 %109, label %110, label %114

110:                                              ; preds = %105
  %111 = add nuw nsw i64 %108, 1
  store i64 %111, ptr %8, align 8
  %112 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %108
  store i8 32, ptr %112, align 1
  %113 = load i64, ptr %8, align 8
  br label %114

114:                                              ; preds = %110, %105, %100
  %115 = phi i64 [ %113, %110 ], [ %108, %105 ], [ %103, %100 ]
  %116 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %115
  store i8 0, ptr %116, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %7)
  %117 = load i64, ptr %8, align 8
  %118 = icmp ult i64 %117, 511
  br i1 %118, label %119, label %183

119:                                              ; preds = %114
  %120 = add nuw nsw i64 %117, 1
  store i64 %120, ptr %8, align 8
  %121 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %117
  store i8 116, ptr %121, align 1
  %122 = load i64, ptr %8, align 8
  %123 = icmp ult i64 %122, 511
  br i1 %123, label %124, label %183

124:                                              ; preds = %119
  %125 = add nuw nsw i64 %122, 1
  store i64 %125, ptr %8, align 8
  %126 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %122
  store i8 104, ptr %126, align 1
  %127 = load i64, ptr %8, align 8
  %128 = icmp ult i64 %127, 511
  br i1 %128, label %129, label %183

129:                                              ; preds = %124
  %130 = add nuw nsw i64 %127, 1
  store i64 %130, ptr %8, align 8
  %131 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %127
  store i8 101, ptr %131, align 1
  %132 = load i64, ptr %8, align 8
  %133 = icmp ult i64 %132, 511
  br i1 %133, label %134, label %183

134:                                              ; preds = %129
  %135 = add nuw nsw i64 %132, 1
  store i64 %135, ptr %8, align 8
  %136 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %132
  store i8 32, ptr %136, align 1
  %137 = load i64, ptr %8, align 8
  %138 = icmp ult i64 %137, 511
  br i1 %138, label %139, label %183

139:                                              ; preds = %134
  %140 = add nuw nsw i64 %137, 1
  store i64 %140, ptr %8, align 8
  %141 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %137
  store i8 110, ptr %141, align 1
  %142 = load i64, ptr %8, align 8
  %143 = icmp ult i64 %142, 511
  br i1 %143, label %144, label %183

144:                                              ; preds = %139
  %145 = add nuw nsw i64 %142, 1
  store i64 %145, ptr %8, align 8
  %146 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %142
  store i8 111, ptr %146, align 1
  %147 = load i64, ptr %8, align 8
  %148 = icmp ult i64 %147, 511
  br i1 %148, label %149, label %183

149:                                              ; preds = %144
  %150 = add nuw nsw i64 %147, 1
  store i64 %150, ptr %8, align 8
  %151 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %147
  store i8 100, ptr %151, align 1
  %152 = load i64, ptr %8, align 8
  %153 = icmp ult i64 %152, 511
  br i1 %153, label %154, label %183

154:                                              ; preds = %149
  %155 = add nuw nsw i64 %152, 1
  store i64 %155, ptr %8, align 8
  %156 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %152
  store i8 101, ptr %156, align 1
  %157 = load i64, ptr %8, align 8
  %158 = icmp ult i64 %157, 511
  br i1 %158, label %159, label %183

159:                                              ; preds = %154
  %160 = add nuw nsw i64 %157, 1
  store i64 %160, ptr %8, align 8
  %161 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %157
  store i8 32, ptr %161, align 1
  %162 = load i64, ptr %8, align 8
  %163 = icmp ult i64 %162, 511
  br i1 %163, label %164, label %183

164:                                              ; preds = %159
  %165 = add nuw nsw i64 %162, 1
  store i64 %165, ptr %8, align 8
  %166 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %162
  store i8 104, ptr %166, align 1
  %167 = load i64, ptr %8, align 8
  %168 = icmp ult i64 %167, 511
  br i1 %168, label %169, label %183

169:                                              ; preds = %164
  %170 = add nuw nsw i64 %167, 1
  store i64 %170, ptr %8, align 8
  %171 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %167
  store i8 97, ptr %171, align 1
  %172 = load i64, ptr %8, align 8
  %173 = icmp ult i64 %172, 511
  br i1 %173, label %174, label %183

174:                                              ; preds = %169
  %175 = add nuw nsw i64 %172, 1
  store i64 %175, ptr %8, align 8
  %176 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %172
  store i8 115, ptr %176, align 1
  %177 = load i64, ptr %8, align 8
  %178 = icmp ult i64 %177, 511
  br i1 %178, label %179, label %183

179:                                              ; preds = %174
  %180 = add nuw nsw i64 %177, 1
  store i64 %180, ptr %8, align 8
  %181 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %177
  store i8 32, ptr %181, align 1
  %182 = load i64, ptr %8, align 8
  br label %183

183:                                              ; preds = %179, %174, %169, %164, %159, %154, %149, %144, %139, %134, %129, %124, %119, %114
  %184 = phi i64 [ %182, %179 ], [ %177, %174 ], [ %172, %169 ], [ %167, %164 ], [ %162, %159 ], [ %157, %154 ], [ %152, %149 ], [ %147, %144 ], [ %142, %139 ], [ %137, %134 ], [ %132, %129 ], [ %127, %124 ], [ %122, %119 ], [ %117, %114 ]
  %185 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %184
  store i8 0, ptr %185, align 1
  %186 = select i1 %71, ptr @.str.10, ptr @.str.9
  %187 = load i8, ptr %186, align 1
  %188 = icmp eq i8 %187, 0
  br i1 %188, label %200, label %189

189:                                              ; preds = %183, %194
  %190 = phi i8 [ %198, %194 ], [ %187, %183 ]
  %191 = phi ptr [ %195, %194 ], [ %186, %183 ]
  %192 = load i64, ptr %8, align 8
  %193 = icmp ult i64 %192, 511
  br i1 %193, label %194, label %200

194:                                              ; preds = %189
  %195 = getelementptr inbounds i8, ptr %191, i64 1
  %196 = add nuw nsw i64 %192, 1
  store i64 %196, ptr %8, align 8
  %197 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %192
  store i8 %190, ptr %197, align 1
  %198 = load i8, ptr %195, align 1
  %199 = icmp eq i8 %198, 0
  br i1 %199, label %200, label %189, !llvm.loop !5

200:                                              ; preds = %194, %189, %183
  %201 = load i64, ptr %8, align 8
  %202 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %201
  store i8 0, ptr %202, align 1
  br i1 %71, label %203, label %241

203:                                              ; preds = %200
  %204 = load i64, ptr %9, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %6) #9
  %205 = getelementptr inbounds i8, ptr %6, i64 23
  %206 = call i64 @llvm.abs.i64(i64 %204, i1 false)
  store i8 0, ptr %205, align 1
  br label %207

207:                                              ; preds = %207, %203
  %208 = phi ptr [ %205, %203 ], [ %216, %207 ]
  %209 = phi i64 [ %206, %203 ], [ %211, %207 ]
  %210 = freeze i64 %209
  %211 = udiv i64 %210, 10
  %212 = mul i64 %211, 10
  %213 = sub i64 %210, %212
  %214 = trunc i64 %213 to i8
  %215 = or i8 %214, 48
  %216 = getelementptr inbounds i8, ptr %208, i64 -1
  store i8 %215, ptr %216, align 1
  %217 = icmp ult i64 %209, 10
  br i1 %217, label %218, label %207, !llvm.loop !8

218:                                              ; preds = %207
  %219 = icmp slt i64 %204, 0
  br i1 %219, label %220, label %222

220:                                              ; preds = %218
  %221 = getelementptr inbounds i8, ptr %208, i64 -2
  store i8 45, ptr %221, align 1
  br label %222

222:                                              ; preds = %220, %218
  %223 = phi i8 [ %215, %218 ], [ 45, %220 ]
  %224 = phi ptr [ %216, %218 ], [ %221, %220 ]
  br label %225

225:                                              ; preds = %222, %230
  %226 = phi i8 [ %234, %230 ], [ %223, %222 ]
  %227 = phi ptr [ %231, %230 ], [ %224, %222 ]
  %228 = load i64, ptr %8, align 8
  %229 = icmp ult i64 %228, 511
  br i1 %229, label %230, label %238

230:                                              ; preds = %225
  %231 = getelementptr inbounds i8, ptr %227, i64 1
  %232 = add nuw nsw i64 %228, 1
  store i64 %232, ptr %8, align 8
  %233 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %228
  store i8 %226, ptr %233, align 1
  %234 = load i8, ptr %231, align 1
  %235 = icmp eq i8 %234, 0
  br i1 %235, label %236, label %225, !llvm.loop !5

236:                                              ; preds = %230
  %237 = load i64, ptr %8, align 8
  br label %238

238:                                              ; preds = %225, %236
  %239 = phi i64 [ %237, %236 ], [ %228, %225 ]
  %240 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %239
  store i8 0, ptr %240, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %6) #9
  br label %241

241:                                              ; preds = %238, %200
  br label %242

242:                                              ; preds = %241, %247
  %243 = phi i8 [ %251, %247 ], [ 32, %241 ]
  %244 = phi ptr [ %248, %247 ], [ @.str.11, %241 ]
  %245 = load i64, ptr %8, align 8
  %246 = icmp ult i64 %245, 511
  br i1 %246, label %247, label %255

247:                                              ; preds = %242
  %248 = getelementptr inbounds i8, ptr %244, i64 1
  %249 = add nuw nsw i64 %245, 1
  store i64 %249, ptr %8, align 8
  %250 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %245
  store i8 %243, ptr %250, align 1
  %251 = load i8, ptr %248, align 1
  %252 = icmp eq ptr %248, getelementptr inbounds ([44 x i8], ptr @.str.11, i64 0, i64 43)
  br i1 %252, label %253, label %242, !llvm.loop !5

253:                                              ; preds = %247
  %254 = load i64, ptr %8, align 8
  br label %255

255:                                              ; preds = %242, %253
  %256 = phi i64 [ %254, %253 ], [ %245, %242 ]
  %257 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %256
  store i8 0, ptr %257, align 1
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %5) #9
  %258 = getelementptr inbounds i8, ptr %5, i64 23
  store i8 0, ptr %258, align 1
  %259 = getelementptr inbounds i8, ptr %5, i64 22
  store i8 52, ptr %259, align 1
  %260 = getelementptr inbounds i8, ptr %5, i64 21
  store i8 54, ptr %260, align 1
  br label %261

261:                                              ; preds = %266, %255
  %262 = phi i8 [ %270, %266 ], [ 54, %255 ]
  %263 = phi ptr [ %267, %266 ], [ %260, %255 ]
  %264 = load i64, ptr %8, align 8
  %265 = icmp ult i64 %264, 511
  br i1 %265, label %266, label %274

266:                                              ; preds = %261
  %267 = getelementptr inbounds i8, ptr %263, i64 1
  %268 = add nuw nsw i64 %264, 1
  store i64 %268, ptr %8, align 8
  %269 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %264
  store i8 %262, ptr %269, align 1
  %270 = load i8, ptr %267, align 1
  %271 = icmp eq i8 %270, 0
  br i1 %271, label %272, label %261, !llvm.loop !5

272:                                              ; preds = %266
  %273 = load i64, ptr %8, align 8
  br label %274

274:                                              ; preds = %261, %272
  %275 = phi i64 [ %273, %272 ], [ %264, %261 ]
  %276 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %275
  store i8 0, ptr %276, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %5) #9
  %277 = load ptr, ptr %1, align 8
  %278 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1
  %279 = call ptr %277(i32 noundef 2, ptr noundef nonnull %278) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %8) #9
  %280 = icmp eq ptr %279, null
  br i1 %280, label %281, label %303

281:                                              ; preds = %274, %82
  %282 = phi i32 [ %79, %82 ], [ %84, %274 ]
  %283 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 16
  %284 = load ptr, ptr %283, align 8
  %285 = call ptr %284(ptr noundef nonnull %13) #8
  %286 = icmp eq ptr %285, null
  br i1 %286, label %287, label %303

287:                                              ; preds = %281
  %288 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 13
  %289 = load ptr, ptr %288, align 8
  %290 = load ptr, ptr %13, align 8
  %291 = call ptr %289(ptr noundef %290, i64 noundef 88, ptr noundef %3) #8
  %292 = icmp eq ptr %291, null
  br i1 %292, label %293, label %303

293:                                              ; preds = %287
  %294 = load ptr, ptr %3, align 8
  %295 = icmp eq ptr %294, null
  br i1 %295, label %296, label %298

296:                                              ; preds = %293
  %297 = call fastcc ptr @fail(ptr noundef nonnull %1, i32 noundef 6, ptr noundef nonnull @.str.4) #10
  br label %303

298:                                              ; preds = %293
  %299 = load ptr, ptr %13, align 8
  store ptr %1, ptr %294, align 8
  %300 = getelementptr inbounds i8, ptr %294, i64 8
  store ptr %299, ptr %300, align 8
  %301 = getelementptr inbounds i8, ptr %294, i64 16
  store i32 %282, ptr %301, align 8
  %302 = getelementptr inbounds i8, ptr %294, i64 20
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(68) %302, i8 0, i64 68, i1 false)
  br label %303

303:                                              ; preds = %64, %274, %281, %296, %298, %287, %31, %23
  %304 = phi ptr [ %25, %23 ], [ %32, %31 ], [ null, %298 ], [ %297, %296 ], [ %291, %287 ], [ %285, %281 ], [ %279, %274 ], [ %65, %64 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %13) #9
  ret ptr %304
}

; Function Attrs: nounwind
define internal ptr @compute(ptr noundef %0, ptr noundef %1) #0 {
  %3 = alloca ptr, align 8
  %4 = alloca %struct.model_tensor, align 8
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca [8 x i64], align 8
  %8 = alloca i64, align 8
  %9 = alloca %struct.model_tensor, align 8
  %10 = alloca ptr, align 8
  %11 = alloca %struct.model_threads, align 8
  %12 = alloca ptr, align 8
  %13 = alloca %struct.model_tensor, align 8
  %14 = alloca ptr, align 8
  %15 = alloca ptr, align 8
  %16 = alloca [8 x i64], align 8
  %17 = alloca i64, align 8
  %18 = alloca %struct.model_tensor, align 8
  %19 = alloca %struct.run, align 8
  %20 = alloca [256 x i64], align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %19) #9
  store ptr %0, ptr %19, align 8
  %21 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 1
  store ptr %1, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2
  %23 = call i32 @model_describe(ptr noundef nonnull %22) #8
  %24 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 3
  %25 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 4
  store <2 x ptr> zeroinitializer, ptr %24, align 8
  %26 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 5
  %27 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 6
  store <2 x ptr> zeroinitializer, ptr %26, align 8
  %28 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 7
  store ptr null, ptr %28, align 8
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %20) #9
  %29 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 8
  %30 = load i32, ptr %29, align 4
  %31 = icmp eq i32 %30, 0
  br i1 %31, label %145, label %32

32:                                               ; preds = %2
  %33 = zext i32 %30 to i64
  %34 = icmp ult i32 %30, 4
  br i1 %34, label %45, label %35

35:                                               ; preds = %32
  %36 = and i64 %33, 4294967292
  br label %37

37:                                               ; preds = %37, %35
  %38 = phi i64 [ 0, %35 ], [ %41, %37 ]
  %39 = getelementptr inbounds [256 x i64], ptr %20, i64 0, i64 %38
  store <2 x i64> zeroinitializer, ptr %39, align 8
  %40 = getelementptr inbounds i64, ptr %39, i64 2
  store <2 x i64> zeroinitializer, ptr %40, align 8
  %41 = add nuw i64 %38, 4
  %42 = icmp eq i64 %41, %36
  br i1 %42, label %43, label %37, !llvm.loop !9

43:                                               ; preds = %37
  %44 = icmp eq i64 %36, %33
  br i1 %44, label %47, label %45

45:                                               ; preds = %32, %43
  %46 = phi i64 [ 0, %32 ], [ %36, %43 ]
  br label %139

47:                                               ; preds = %139, %43
  %48 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 6
  %49 = load i32, ptr %48, align 4
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %144, label %51

51:                                               ; preds = %47
  %52 = getelementptr inbounds %struct.model_tensor, ptr %18, i64 0, i32 2
  br label %53

53:                                               ; preds = %127, %51
  %54 = phi i64 [ 0, %51 ], [ %128, %127 ]
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %15) #9
  store ptr null, ptr %15, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %17) #9
  store i64 0, ptr %17, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %18) #9
  %55 = load ptr, ptr %19, align 8
  %56 = load ptr, ptr %55, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %14) #9
  store ptr null, ptr %14, align 8
  %57 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 21
  %58 = load ptr, ptr %57, align 8
  %59 = load ptr, ptr %21, align 8
  %60 = call ptr %58(ptr noundef %59, i64 noundef %54, ptr noundef nonnull %15) #8
  %61 = icmp eq ptr %60, null
  br i1 %61, label %62, label %81

62:                                               ; preds = %53
  %63 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 11
  %64 = load ptr, ptr %63, align 8
  %65 = load ptr, ptr %15, align 8
  %66 = call ptr %64(ptr noundef %65, ptr noundef nonnull %14) #8
  %67 = icmp eq ptr %66, null
  br i1 %67, label %68, label %81

68:                                               ; preds = %62
  %69 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 8
  %70 = load ptr, ptr %69, align 8
  %71 = load ptr, ptr %14, align 8
  %72 = call ptr %70(ptr noundef %71, ptr noundef nonnull %17) #8
  %73 = icmp eq ptr %72, null
  br i1 %73, label %74, label %83

74:                                               ; preds = %68
  %75 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 9
  %76 = load ptr, ptr %75, align 8
  %77 = load ptr, ptr %14, align 8
  %78 = load i64, ptr %17, align 8
  %79 = call i64 @llvm.umin.i64(i64 %78, i64 8)
  %80 = call ptr %76(ptr noundef %77, ptr noundef nonnull %16, i64 noundef %79) #8
  br label %83

81:                                               ; preds = %62, %53
  %82 = phi ptr [ %60, %53 ], [ %66, %62 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %132

83:                                               ; preds = %74, %68
  %84 = phi ptr [ %72, %68 ], [ %80, %74 ]
  %85 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 26
  %86 = load ptr, ptr %85, align 8
  %87 = load ptr, ptr %14, align 8
  call void %86(ptr noundef %87) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  %88 = icmp eq ptr %84, null
  br i1 %88, label %89, label %132

89:                                               ; preds = %83
  %90 = load i32, ptr %48, align 4
  %91 = zext i32 %90 to i64
  %92 = icmp ult i64 %54, %91
  br i1 %92, label %93, label %97

93:                                               ; preds = %89
  %94 = load ptr, ptr %24, align 8
  %95 = trunc i64 %54 to i32
  %96 = call i32 @model_input(i32 noundef %95, ptr noundef %94, ptr noundef nonnull %18) #8
  br label %102

97:                                               ; preds = %89
  %98 = trunc i64 %54 to i32
  %99 = sub i32 %98, %90
  %100 = load ptr, ptr %24, align 8
  %101 = call i32 @model_output(i32 noundef %99, ptr noundef %100, ptr noundef nonnull %18) #8
  br label %102

102:                                              ; preds = %97, %93
  %103 = load i64, ptr %17, align 8
  %104 = load i32, ptr %52, align 8
  %105 = zext i32 %104 to i64
  %106 = icmp eq i64 %103, %105
  br i1 %106, label %107, label %134

107:                                              ; preds = %102
  %108 = icmp eq i64 %103, 0
  br i1 %108, label %127, label %109

109:                                              ; preds = %107
  %110 = load i32, ptr %29, align 4
  %111 = zext i32 %110 to i64
  br label %112

112:                                              ; preds = %109, %124
  %113 = phi i64 [ %125, %124 ], [ 0, %109 ]
  %114 = getelementptr inbounds %struct.model_tensor, ptr %18, i64 0, i32 4, i64 %113
  %115 = load i64, ptr %114, align 8
  %116 = icmp slt i64 %115, 0
  br i1 %116, label %117, label %124

117:                                              ; preds = %112
  %118 = xor i64 %115, -1
  %119 = icmp ult i64 %118, %111
  br i1 %119, label %120, label %124

120:                                              ; preds = %117
  %121 = getelementptr inbounds [8 x i64], ptr %16, i64 0, i64 %113
  %122 = load i64, ptr %121, align 8
  %123 = getelementptr inbounds i64, ptr %20, i64 %118
  store i64 %122, ptr %123, align 8
  br label %124

124:                                              ; preds = %120, %117, %112
  %125 = add nuw i64 %113, 1
  %126 = icmp eq i64 %125, %103
  br i1 %126, label %127, label %112, !llvm.loop !12

127:                                              ; preds = %124, %107
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %18) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %17) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %15) #9
  %128 = add nuw nsw i64 %54, 1
  %129 = load i32, ptr %48, align 4
  %130 = zext i32 %129 to i64
  %131 = icmp ult i64 %128, %130
  br i1 %131, label %53, label %144, !llvm.loop !13

132:                                              ; preds = %83, %81
  %133 = phi ptr [ %82, %81 ], [ %84, %83 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %18) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %17) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %15) #9
  br label %542

134:                                              ; preds = %102
  %135 = load ptr, ptr %19, align 8
  %136 = load ptr, ptr %135, align 8
  %137 = call fastcc ptr @refuse_shape(ptr noundef %136, ptr noundef nonnull %18, ptr noundef nonnull %16, i64 noundef %103) #10
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %18) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %17) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %15) #9
  %138 = icmp eq ptr %137, null
  br i1 %138, label %144, label %542

139:                                              ; preds = %45, %139
  %140 = phi i64 [ %142, %139 ], [ %46, %45 ]
  %141 = getelementptr inbounds [256 x i64], ptr %20, i64 0, i64 %140
  store i64 0, ptr %141, align 8
  %142 = add nuw nsw i64 %140, 1
  %143 = icmp eq i64 %142, %33
  br i1 %143, label %47, label %139, !llvm.loop !14

144:                                              ; preds = %127, %47, %134
  store ptr %20, ptr %24, align 8
  br label %145

145:                                              ; preds = %144, %2
  %146 = phi ptr [ %20, %144 ], [ null, %2 ]
  %147 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 6
  %148 = load i32, ptr %147, align 4
  %149 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 7
  %150 = load i32, ptr %149, align 8
  %151 = add i32 %150, %148
  %152 = zext i32 %151 to i64
  %153 = shl nuw nsw i64 %152, 4
  %154 = zext i32 %150 to i64
  %155 = shl nuw nsw i64 %154, 3
  %156 = add nuw nsw i64 %155, 63
  %157 = add nuw nsw i64 %156, %153
  %158 = and i64 %157, 137438953408
  %159 = sub i32 0, %148
  %160 = icmp eq i32 %150, %159
  br i1 %160, label %192, label %161

161:                                              ; preds = %145
  %162 = getelementptr inbounds %struct.model_tensor, ptr %13, i64 0, i32 5
  br label %163

163:                                              ; preds = %180, %161
  %164 = phi i32 [ %148, %161 ], [ %186, %180 ]
  %165 = phi i32 [ 0, %161 ], [ %185, %180 ]
  %166 = phi i64 [ %158, %161 ], [ %184, %180 ]
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %13) #9
  %167 = icmp ult i32 %165, %164
  br i1 %167, label %168, label %171

168:                                              ; preds = %163
  %169 = load ptr, ptr %24, align 8
  %170 = call i32 @model_input(i32 noundef %165, ptr noundef %169, ptr noundef nonnull %13) #8
  br label %175

171:                                              ; preds = %163
  %172 = sub i32 %165, %164
  %173 = load ptr, ptr %24, align 8
  %174 = call i32 @model_output(i32 noundef %172, ptr noundef %173, ptr noundef nonnull %13) #8
  br label %175

175:                                              ; preds = %171, %168
  %176 = phi i32 [ %170, %168 ], [ %174, %171 ]
  %177 = icmp eq i32 %176, 0
  br i1 %177, label %180, label %178

178:                                              ; preds = %175
  %179 = sext i32 %176 to i64
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %13) #9
  br label %202

180:                                              ; preds = %175
  %181 = load i64, ptr %162, align 8
  %182 = add i64 %181, 63
  %183 = and i64 %182, -64
  %184 = add nsw i64 %183, %166
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %13) #9
  %185 = add nuw i32 %165, 1
  %186 = load i32, ptr %147, align 4
  %187 = load i32, ptr %149, align 8
  %188 = add i32 %187, %186
  %189 = icmp ult i32 %185, %188
  br i1 %189, label %163, label %190, !llvm.loop !15

190:                                              ; preds = %180
  %191 = load ptr, ptr %24, align 8
  br label %192

192:                                              ; preds = %190, %145
  %193 = phi ptr [ %146, %145 ], [ %191, %190 ]
  %194 = phi i64 [ %158, %145 ], [ %184, %190 ]
  %195 = load ptr, ptr %19, align 8
  %196 = getelementptr inbounds %struct.kernel, ptr %195, i64 0, i32 2
  %197 = load i32, ptr %196, align 8
  %198 = call i64 @model_workspace_bytes(ptr noundef %193, i32 noundef %197) #8
  %199 = icmp slt i64 %198, 0
  %200 = select i1 %199, i64 0, i64 %194
  %201 = add nsw i64 %200, %198
  br label %202

202:                                              ; preds = %178, %192
  %203 = phi i64 [ %198, %192 ], [ undef, %178 ]
  %204 = phi i64 [ %201, %192 ], [ %179, %178 ]
  %205 = icmp slt i64 %204, 0
  br i1 %205, label %206, label %211

206:                                              ; preds = %202
  %207 = load ptr, ptr %0, align 8
  %208 = trunc i64 %204 to i32
  %209 = call ptr @model_status_text(i32 noundef %208) #8
  %210 = call fastcc ptr @fail(ptr noundef %207, i32 noundef 2, ptr noundef %209) #10
  br label %542

211:                                              ; preds = %202
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store ptr null, ptr %12, align 8
  %212 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3
  %213 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  br label %214

214:                                              ; preds = %235, %211
  %215 = phi i64 [ 0, %211 ], [ %236, %235 ]
  %216 = getelementptr inbounds ptr, ptr %212, i64 %215
  %217 = atomicrmw xchg ptr %216, i64 0 acq_rel, align 8
  %218 = inttoptr i64 %217 to ptr
  %219 = icmp eq i64 %217, 0
  br i1 %219, label %235, label %220

220:                                              ; preds = %214
  %221 = getelementptr inbounds %struct.block, ptr %218, i64 0, i32 1
  %222 = load i64, ptr %221, align 8
  %223 = icmp ult i64 %222, %204
  br i1 %223, label %224, label %257

224:                                              ; preds = %220
  %225 = load ptr, ptr %0, align 8
  %226 = getelementptr inbounds %struct.ort_api, ptr %225, i64 0, i32 14
  %227 = load ptr, ptr %226, align 8
  %228 = load ptr, ptr %213, align 8
  %229 = call ptr %227(ptr noundef %228, ptr noundef nonnull %218) #8
  %230 = icmp eq ptr %229, null
  br i1 %230, label %235, label %231

231:                                              ; preds = %224
  %232 = load ptr, ptr %0, align 8
  %233 = getelementptr inbounds %struct.ort_api, ptr %232, i64 0, i32 24
  %234 = load ptr, ptr %233, align 8
  call void %234(ptr noundef nonnull %229) #8
  br label %235

235:                                              ; preds = %231, %224, %214
  %236 = add nuw nsw i64 %215, 1
  %237 = icmp eq i64 %236, 8
  br i1 %237, label %238, label %214, !llvm.loop !16

238:                                              ; preds = %235
  %239 = load ptr, ptr %0, align 8
  %240 = getelementptr inbounds %struct.ort_api, ptr %239, i64 0, i32 13
  %241 = load ptr, ptr %240, align 8
  %242 = load ptr, ptr %213, align 8
  %243 = add i64 %204, 80
  %244 = call ptr %241(ptr noundef %242, i64 noundef %243, ptr noundef nonnull %12) #8
  %245 = icmp eq ptr %244, null
  br i1 %245, label %247, label %246

246:                                              ; preds = %238
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  br label %542

247:                                              ; preds = %238
  %248 = load ptr, ptr %12, align 8
  %249 = icmp eq ptr %248, null
  br i1 %249, label %261, label %250

250:                                              ; preds = %247
  %251 = getelementptr inbounds %struct.block, ptr %248, i64 0, i32 1
  store i64 %204, ptr %251, align 8
  %252 = getelementptr inbounds %struct.block, ptr %248, i64 1
  %253 = ptrtoint ptr %252 to i64
  %254 = sub i64 0, %253
  %255 = and i64 %254, 63
  %256 = getelementptr inbounds i8, ptr %252, i64 %255
  store ptr %256, ptr %248, align 8
  br label %259

257:                                              ; preds = %220
  %258 = inttoptr i64 %217 to ptr
  br label %259

259:                                              ; preds = %257, %250
  %260 = phi ptr [ %248, %250 ], [ %258, %257 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  br label %265

261:                                              ; preds = %247
  %262 = load ptr, ptr %0, align 8
  %263 = call fastcc ptr @fail(ptr noundef %262, i32 noundef 6, ptr noundef nonnull @.str.20) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  %264 = icmp eq ptr %263, null
  br i1 %264, label %265, label %542

265:                                              ; preds = %259, %261
  %266 = phi ptr [ %260, %259 ], [ null, %261 ]
  %267 = load ptr, ptr %266, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %11) #9
  %268 = load ptr, ptr %19, align 8
  %269 = getelementptr inbounds %struct.kernel, ptr %268, i64 0, i32 2
  %270 = load i32, ptr %269, align 8
  store i32 %270, ptr %11, align 8
  %271 = getelementptr inbounds %struct.model_threads, ptr %11, i64 0, i32 1
  store ptr @launch, ptr %271, align 8
  %272 = getelementptr inbounds %struct.model_threads, ptr %11, i64 0, i32 2
  store ptr %19, ptr %272, align 8
  %273 = load i32, ptr %147, align 4
  %274 = load i32, ptr %149, align 8
  store ptr %267, ptr %25, align 8
  %275 = zext i32 %273 to i64
  %276 = getelementptr inbounds %struct.model_buffer, ptr %267, i64 %275
  %277 = zext i32 %274 to i64
  %278 = getelementptr inbounds %struct.model_buffer, ptr %276, i64 %277
  store ptr %278, ptr %26, align 8
  %279 = add i32 %274, %273
  %280 = zext i32 %279 to i64
  %281 = shl nuw nsw i64 %280, 4
  %282 = shl nuw nsw i64 %277, 3
  %283 = add nuw nsw i64 %282, 63
  %284 = add nuw nsw i64 %283, %281
  %285 = and i64 %284, 137438953408
  %286 = getelementptr inbounds i8, ptr %267, i64 %285
  store ptr %286, ptr %27, align 8
  %287 = icmp eq i32 %273, 0
  br i1 %287, label %292, label %288

288:                                              ; preds = %265
  %289 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 2
  %290 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 5
  %291 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 3
  br label %302

292:                                              ; preds = %402, %265
  %293 = phi ptr [ null, %265 ], [ %403, %402 ]
  %294 = icmp eq ptr %293, null
  %295 = icmp ne i32 %274, 0
  %296 = select i1 %294, i1 %295, i1 false
  br i1 %296, label %297, label %408

297:                                              ; preds = %292
  %298 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 4
  %299 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 2
  %300 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 5
  %301 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 3
  br label %409

302:                                              ; preds = %402, %288
  %303 = phi i64 [ 0, %288 ], [ %404, %402 ]
  %304 = load ptr, ptr %19, align 8
  %305 = load ptr, ptr %304, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  store ptr null, ptr %6, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %7) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #9
  store i64 0, ptr %8, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %9) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %10) #9
  store ptr null, ptr %10, align 8
  %306 = load ptr, ptr %304, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #9
  store ptr null, ptr %5, align 8
  %307 = getelementptr inbounds %struct.ort_api, ptr %306, i64 0, i32 21
  %308 = load ptr, ptr %307, align 8
  %309 = load ptr, ptr %21, align 8
  %310 = call ptr %308(ptr noundef %309, i64 noundef %303, ptr noundef nonnull %6) #8
  %311 = icmp eq ptr %310, null
  br i1 %311, label %312, label %331

312:                                              ; preds = %302
  %313 = getelementptr inbounds %struct.ort_api, ptr %306, i64 0, i32 11
  %314 = load ptr, ptr %313, align 8
  %315 = load ptr, ptr %6, align 8
  %316 = call ptr %314(ptr noundef %315, ptr noundef nonnull %5) #8
  %317 = icmp eq ptr %316, null
  br i1 %317, label %318, label %331

318:                                              ; preds = %312
  %319 = getelementptr inbounds %struct.ort_api, ptr %306, i64 0, i32 8
  %320 = load ptr, ptr %319, align 8
  %321 = load ptr, ptr %5, align 8
  %322 = call ptr %320(ptr noundef %321, ptr noundef nonnull %8) #8
  %323 = icmp eq ptr %322, null
  br i1 %323, label %324, label %333

324:                                              ; preds = %318
  %325 = getelementptr inbounds %struct.ort_api, ptr %306, i64 0, i32 9
  %326 = load ptr, ptr %325, align 8
  %327 = load ptr, ptr %5, align 8
  %328 = load i64, ptr %8, align 8
  %329 = call i64 @llvm.umin.i64(i64 %328, i64 8)
  %330 = call ptr %326(ptr noundef %327, ptr noundef nonnull %7, i64 noundef %329) #8
  br label %333

331:                                              ; preds = %312, %302
  %332 = phi ptr [ %310, %302 ], [ %316, %312 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #9
  br label %400

333:                                              ; preds = %324, %318
  %334 = phi ptr [ %322, %318 ], [ %330, %324 ]
  %335 = getelementptr inbounds %struct.ort_api, ptr %306, i64 0, i32 26
  %336 = load ptr, ptr %335, align 8
  %337 = load ptr, ptr %5, align 8
  call void %336(ptr noundef %337) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #9
  %338 = icmp eq ptr %334, null
  br i1 %338, label %339, label %400

339:                                              ; preds = %333
  %340 = load i32, ptr %147, align 4
  %341 = zext i32 %340 to i64
  %342 = icmp ult i64 %303, %341
  br i1 %342, label %343, label %347

343:                                              ; preds = %339
  %344 = load ptr, ptr %24, align 8
  %345 = trunc i64 %303 to i32
  %346 = call i32 @model_input(i32 noundef %345, ptr noundef %344, ptr noundef nonnull %9) #8
  br label %352

347:                                              ; preds = %339
  %348 = trunc i64 %303 to i32
  %349 = sub i32 %348, %340
  %350 = load ptr, ptr %24, align 8
  %351 = call i32 @model_output(i32 noundef %349, ptr noundef %350, ptr noundef nonnull %9) #8
  br label %352

352:                                              ; preds = %347, %343
  %353 = load i64, ptr %8, align 8
  %354 = load i32, ptr %289, align 8
  %355 = zext i32 %354 to i64
  %356 = icmp eq i64 %353, %355
  %357 = icmp ne i64 %353, 0
  %358 = and i1 %357, %356
  br i1 %358, label %361, label %359

359:                                              ; preds = %361, %352
  %360 = phi i1 [ %356, %352 ], [ %367, %361 ]
  br i1 %360, label %373, label %371

361:                                              ; preds = %352, %361
  %362 = phi i64 [ %368, %361 ], [ 0, %352 ]
  %363 = getelementptr inbounds [8 x i64], ptr %7, i64 0, i64 %362
  %364 = load i64, ptr %363, align 8
  %365 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 4, i64 %362
  %366 = load i64, ptr %365, align 8
  %367 = icmp eq i64 %364, %366
  %368 = add nuw i64 %362, 1
  %369 = icmp ult i64 %368, %353
  %370 = select i1 %367, i1 %369, i1 false
  br i1 %370, label %361, label %359, !llvm.loop !17

371:                                              ; preds = %359
  %372 = call fastcc ptr @refuse_shape(ptr noundef %305, ptr noundef nonnull %9, ptr noundef nonnull %7, i64 noundef %353) #10
  br label %402

373:                                              ; preds = %359
  %374 = getelementptr inbounds %struct.ort_api, ptr %305, i64 0, i32 6
  %375 = load ptr, ptr %374, align 8
  %376 = load ptr, ptr %6, align 8
  %377 = call ptr %375(ptr noundef %376, ptr noundef nonnull %10) #8
  %378 = icmp eq ptr %377, null
  br i1 %378, label %379, label %400

379:                                              ; preds = %373
  %380 = load ptr, ptr %25, align 8
  %381 = getelementptr inbounds %struct.model_buffer, ptr %380, i64 %303
  %382 = load ptr, ptr %10, align 8
  %383 = load i64, ptr %290, align 8
  %384 = ptrtoint ptr %382 to i64
  %385 = load i32, ptr %291, align 4
  %386 = zext i32 %385 to i64
  %387 = urem i64 %384, %386
  %388 = icmp eq i64 %387, 0
  %389 = load ptr, ptr %27, align 8
  %390 = ptrtoint ptr %389 to i64
  %391 = select i1 %388, i64 %384, i64 %390
  %392 = add i64 %383, 63
  %393 = and i64 %392, -64
  %394 = getelementptr inbounds i8, ptr %389, i64 %393
  store ptr %394, ptr %27, align 8
  store i64 %391, ptr %381, align 8
  %395 = getelementptr inbounds i8, ptr %381, i64 8
  store i64 %383, ptr %395, align 8
  %396 = inttoptr i64 %391 to ptr
  %397 = load ptr, ptr %10, align 8
  %398 = icmp eq ptr %397, %396
  br i1 %398, label %402, label %399

399:                                              ; preds = %379
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %396, ptr align 1 %397, i64 %383, i1 false)
  br label %402

400:                                              ; preds = %373, %333, %331
  %401 = phi ptr [ %332, %331 ], [ %377, %373 ], [ %334, %333 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %7) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  br label %498

402:                                              ; preds = %399, %379, %371
  %403 = phi ptr [ %372, %371 ], [ null, %399 ], [ null, %379 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %7) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  %404 = add nuw nsw i64 %303, 1
  %405 = icmp eq ptr %403, null
  %406 = icmp ult i64 %404, %275
  %407 = select i1 %405, i1 %406, i1 false
  br i1 %407, label %302, label %292, !llvm.loop !18

408:                                              ; preds = %292
  br i1 %294, label %464, label %498

409:                                              ; preds = %440, %297
  %410 = phi i64 [ 0, %297 ], [ %462, %440 ]
  %411 = load ptr, ptr %19, align 8
  %412 = load ptr, ptr %411, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #9
  store ptr null, ptr %3, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %4) #9
  %413 = load i32, ptr %147, align 4
  %414 = trunc i64 %410 to i32
  %415 = add i32 %413, %414
  %416 = icmp ugt i32 %413, %415
  %417 = load ptr, ptr %24, align 8
  br i1 %416, label %418, label %420

418:                                              ; preds = %409
  %419 = call i32 @model_input(i32 noundef %415, ptr noundef %417, ptr noundef nonnull %4) #8
  br label %422

420:                                              ; preds = %409
  %421 = call i32 @model_output(i32 noundef %414, ptr noundef %417, ptr noundef nonnull %4) #8
  br label %422

422:                                              ; preds = %420, %418
  %423 = getelementptr inbounds %struct.ort_api, ptr %412, i64 0, i32 22
  %424 = load ptr, ptr %423, align 8
  %425 = load ptr, ptr %21, align 8
  %426 = load i32, ptr %299, align 8
  %427 = zext i32 %426 to i64
  %428 = call ptr %424(ptr noundef %425, i64 noundef %410, ptr noundef nonnull %298, i64 noundef %427, ptr noundef nonnull %3) #8
  %429 = icmp eq ptr %428, null
  br i1 %429, label %430, label %438

430:                                              ; preds = %422
  %431 = getelementptr inbounds %struct.ort_api, ptr %412, i64 0, i32 6
  %432 = load ptr, ptr %431, align 8
  %433 = load ptr, ptr %3, align 8
  %434 = load ptr, ptr %26, align 8
  %435 = getelementptr inbounds ptr, ptr %434, i64 %410
  %436 = call ptr %432(ptr noundef %433, ptr noundef %435) #8
  %437 = icmp eq ptr %436, null
  br i1 %437, label %440, label %438

438:                                              ; preds = %430, %422
  %439 = phi ptr [ %436, %430 ], [ %428, %422 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  br label %498

440:                                              ; preds = %430
  %441 = load ptr, ptr %25, align 8
  %442 = load i32, ptr %147, align 4
  %443 = add i32 %442, %414
  %444 = zext i32 %443 to i64
  %445 = getelementptr inbounds %struct.model_buffer, ptr %441, i64 %444
  %446 = load ptr, ptr %26, align 8
  %447 = getelementptr inbounds ptr, ptr %446, i64 %410
  %448 = load ptr, ptr %447, align 8
  %449 = load i64, ptr %300, align 8
  %450 = ptrtoint ptr %448 to i64
  %451 = load i32, ptr %301, align 4
  %452 = zext i32 %451 to i64
  %453 = urem i64 %450, %452
  %454 = icmp eq i64 %453, 0
  %455 = load ptr, ptr %27, align 8
  %456 = ptrtoint ptr %455 to i64
  %457 = select i1 %454, i64 %450, i64 %456
  %458 = add i64 %449, 63
  %459 = and i64 %458, -64
  %460 = getelementptr inbounds i8, ptr %455, i64 %459
  store ptr %460, ptr %27, align 8
  store i64 %457, ptr %445, align 8
  %461 = getelementptr inbounds i8, ptr %445, i64 8
  store i64 %449, ptr %461, align 8
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  %462 = add nuw nsw i64 %410, 1
  %463 = icmp eq i64 %462, %277
  br i1 %463, label %464, label %409, !llvm.loop !19

464:                                              ; preds = %440, %408
  %465 = load ptr, ptr %27, align 8
  %466 = load ptr, ptr %25, align 8
  %467 = getelementptr inbounds %struct.model_buffer, ptr %466, i64 %275
  %468 = load ptr, ptr %24, align 8
  %469 = ptrtoint ptr %465 to i64
  %470 = insertvalue [2 x i64] poison, i64 %469, 0
  %471 = insertvalue [2 x i64] %470, i64 %203, 1
  %472 = call i32 @model_run(ptr noundef %468, ptr noundef %466, ptr noundef %467, [2 x i64] %471, ptr noundef nonnull %11) #8
  %473 = load ptr, ptr %28, align 8
  %474 = icmp eq ptr %473, null
  br i1 %474, label %475, label %498

475:                                              ; preds = %464
  %476 = icmp eq i32 %472, 0
  br i1 %476, label %477, label %479

477:                                              ; preds = %475
  %478 = icmp eq i32 %274, 0
  br i1 %478, label %498, label %484

479:                                              ; preds = %475
  %480 = load ptr, ptr %19, align 8
  %481 = load ptr, ptr %480, align 8
  %482 = call ptr @model_status_text(i32 noundef %472) #8
  %483 = call fastcc ptr @fail(ptr noundef %481, i32 noundef 6, ptr noundef %482) #10
  br label %498

484:                                              ; preds = %477, %495
  %485 = phi i64 [ %496, %495 ], [ 0, %477 ]
  %486 = getelementptr inbounds %struct.model_buffer, ptr %467, i64 %485
  %487 = load ptr, ptr %486, align 8
  %488 = load ptr, ptr %26, align 8
  %489 = getelementptr inbounds ptr, ptr %488, i64 %485
  %490 = load ptr, ptr %489, align 8
  %491 = icmp eq ptr %487, %490
  br i1 %491, label %495, label %492

492:                                              ; preds = %484
  %493 = getelementptr inbounds %struct.model_buffer, ptr %486, i64 0, i32 1
  %494 = load i64, ptr %493, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %490, ptr align 1 %487, i64 %494, i1 false)
  br label %495

495:                                              ; preds = %492, %484
  %496 = add nuw nsw i64 %485, 1
  %497 = icmp eq i64 %496, %277
  br i1 %497, label %498, label %484, !llvm.loop !20

498:                                              ; preds = %495, %400, %408, %438, %464, %477, %479
  %499 = phi ptr [ %293, %408 ], [ %483, %479 ], [ %473, %464 ], [ null, %477 ], [ %439, %438 ], [ %401, %400 ], [ null, %495 ]
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %11) #9
  %500 = ptrtoint ptr %266 to i64
  %501 = cmpxchg ptr %212, i64 0, i64 %500 acq_rel monotonic, align 8
  %502 = extractvalue { i64, i1 } %501, 1
  br i1 %502, label %542, label %503

503:                                              ; preds = %498
  %504 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %505 = cmpxchg ptr %504, i64 0, i64 %500 acq_rel monotonic, align 8
  %506 = extractvalue { i64, i1 } %505, 1
  br i1 %506, label %542, label %507

507:                                              ; preds = %503
  %508 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %509 = cmpxchg ptr %508, i64 0, i64 %500 acq_rel monotonic, align 8
  %510 = extractvalue { i64, i1 } %509, 1
  br i1 %510, label %542, label %511

511:                                              ; preds = %507
  %512 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %513 = cmpxchg ptr %512, i64 0, i64 %500 acq_rel monotonic, align 8
  %514 = extractvalue { i64, i1 } %513, 1
  br i1 %514, label %542, label %515

515:                                              ; preds = %511
  %516 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %517 = cmpxchg ptr %516, i64 0, i64 %500 acq_rel monotonic, align 8
  %518 = extractvalue { i64, i1 } %517, 1
  br i1 %518, label %542, label %519

519:                                              ; preds = %515
  %520 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %521 = cmpxchg ptr %520, i64 0, i64 %500 acq_rel monotonic, align 8
  %522 = extractvalue { i64, i1 } %521, 1
  br i1 %522, label %542, label %523

523:                                              ; preds = %519
  %524 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %525 = cmpxchg ptr %524, i64 0, i64 %500 acq_rel monotonic, align 8
  %526 = extractvalue { i64, i1 } %525, 1
  br i1 %526, label %542, label %527

527:                                              ; preds = %523
  %528 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %529 = cmpxchg ptr %528, i64 0, i64 %500 acq_rel monotonic, align 8
  %530 = extractvalue { i64, i1 } %529, 1
  br i1 %530, label %542, label %531

531:                                              ; preds = %527
  %532 = load ptr, ptr %0, align 8
  %533 = getelementptr inbounds %struct.ort_api, ptr %532, i64 0, i32 14
  %534 = load ptr, ptr %533, align 8
  %535 = load ptr, ptr %213, align 8
  %536 = call ptr %534(ptr noundef %535, ptr noundef nonnull %266) #8
  %537 = icmp eq ptr %536, null
  br i1 %537, label %542, label %538

538:                                              ; preds = %531
  %539 = load ptr, ptr %0, align 8
  %540 = getelementptr inbounds %struct.ort_api, ptr %539, i64 0, i32 24
  %541 = load ptr, ptr %540, align 8
  call void %541(ptr noundef nonnull %536) #8
  br label %542

542:                                              ; preds = %538, %531, %527, %523, %519, %515, %511, %507, %503, %498, %246, %132, %206, %261, %134
  %543 = phi ptr [ %137, %134 ], [ %210, %206 ], [ %263, %261 ], [ %133, %132 ], [ %244, %246 ], [ %499, %498 ], [ %499, %503 ], [ %499, %507 ], [ %499, %511 ], [ %499, %515 ], [ %499, %519 ], [ %499, %523 ], [ %499, %527 ], [ %499, %531 ], [ %499, %538 ]
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %20) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %19) #9
  ret ptr %543
}

declare i32 @model_input(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_output(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_init() local_unnamed_addr #3

; Function Attrs: nounwind
define internal fastcc ptr @fail(ptr nocapture noundef readonly %0, i32 noundef %1, ptr nocapture noundef readonly %2) unnamed_addr #0 {
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.text, align 8
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %5) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  store i64 0, ptr %5, align 8
  %6 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %7 = load ptr, ptr %4, align 8
  %8 = load i8, ptr %7, align 1
  %9 = icmp eq i8 %8, 0
  br i1 %9, label %23, label %10

10:                                               ; preds = %3, %15
  %11 = phi i8 [ %19, %15 ], [ %8, %3 ]
  %12 = phi ptr [ %16, %15 ], [ %7, %3 ]
  %13 = load i64, ptr %5, align 8
  %14 = icmp ult i64 %13, 511
  br i1 %14, label %15, label %23

15:                                               ; preds = %10
  %16 = getelementptr inbounds i8, ptr %12, i64 1
  %17 = add nuw nsw i64 %13, 1
  store i64 %17, ptr %5, align 8
  %18 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %13
  store i8 %11, ptr %18, align 1
  %19 = load i8, ptr %16, align 1
  %20 = icmp eq i8 %19, 0
  br i1 %20, label %21, label %10, !llvm.loop !5

21:                                               ; preds = %15
  %22 = load i64, ptr %5, align 8
  br label %23

23:                                               ; preds = %10, %21, %3
  %24 = phi i64 [ 0, %3 ], [ %22, %21 ], [ %13, %10 ]
  %25 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %24
  store i8 0, ptr %25, align 1
  %26 = load i64, ptr %5, align 8
  %27 = icmp ult i64 %26, 511
  br i1 %27, label %28, label %37

28:                                               ; preds = %23
  %29 = add nuw nsw i64 %26, 1
  store i64 %29, ptr %5, align 8
  %30 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %26
  store i8 58, ptr %30, align 1
  %31 = load i64, ptr %5, align 8
  %32 = icmp ult i64 %31, 511
  br i1 %32, label %33, label %37

33:                                               ; preds = %28
  %34 = add nuw nsw i64 %31, 1
  store i64 %34, ptr %5, align 8
  %35 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %31
  store i8 32, ptr %35, align 1
  %36 = load i64, ptr %5, align 8
  br label %37

37:                                               ; preds = %23, %28, %33
  %38 = phi i64 [ %36, %33 ], [ %31, %28 ], [ %26, %23 ]
  %39 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %38
  store i8 0, ptr %39, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %40 = load i8, ptr %2, align 1
  %41 = icmp eq i8 %40, 0
  br i1 %41, label %53, label %42

42:                                               ; preds = %37, %47
  %43 = phi i8 [ %51, %47 ], [ %40, %37 ]
  %44 = phi ptr [ %48, %47 ], [ %2, %37 ]
  %45 = load i64, ptr %5, align 8
  %46 = icmp ult i64 %45, 511
  br i1 %46, label %47, label %53

47:                                               ; preds = %42
  %48 = getelementptr inbounds i8, ptr %44, i64 1
  %49 = add nuw nsw i64 %45, 1
  store i64 %49, ptr %5, align 8
  %50 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %45
  store i8 %43, ptr %50, align 1
  %51 = load i8, ptr %48, align 1
  %52 = icmp eq i8 %51, 0
  br i1 %52, label %53, label %42, !llvm.loop !5

53:                                               ; preds = %42, %47, %37
  %54 = load i64, ptr %5, align 8
  %55 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1
  %58 = call ptr %56(i32 noundef %1, ptr noundef nonnull %57) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %5) #9
  ret ptr %58
}

declare ptr @model_status_text(i32 noundef) local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #5

; Function Attrs: nounwind
define internal fastcc ptr @refuse_shape(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef readonly %2, i64 noundef %3) unnamed_addr #0 {
  %5 = alloca %struct.model_description, align 8
  %6 = alloca %struct.text, align 8
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %6, align 8
  %7 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %8 = load ptr, ptr %5, align 8
  %9 = load i8, ptr %8, align 1
  %10 = icmp eq i8 %9, 0
  br i1 %10, label %22, label %11

11:                                               ; preds = %4, %16
  %12 = phi i8 [ %20, %16 ], [ %9, %4 ]
  %13 = phi ptr [ %17, %16 ], [ %8, %4 ]
  %14 = load i64, ptr %6, align 8
  %15 = icmp ult i64 %14, 511
  br i1 %15, label %16, label %22

16:                                               ; preds = %11
  %17 = getelementptr inbounds i8, ptr %13, i64 1
  %18 = add nuw nsw i64 %14, 1
  store i64 %18, ptr %6, align 8
  %19 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %14
  store i8 %12, ptr %19, align 1
  %20 = load i8, ptr %17, align 1
  %21 = icmp eq i8 %20, 0
  br i1 %21, label %22, label %11, !llvm.loop !5

22:                                               ; preds = %16, %11, %4
  %23 = load i64, ptr %6, align 8
  %24 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %23
  store i8 0, ptr %24, align 1
  %25 = load i64, ptr %6, align 8
  %26 = icmp ult i64 %25, 511
  br i1 %26, label %27, label %36

27:                                               ; preds = %22
  %28 = add nuw nsw i64 %25, 1
  store i64 %28, ptr %6, align 8
  %29 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %25
  store i8 58, ptr %29, align 1
  %30 = load i64, ptr %6, align 8
  %31 = icmp ult i64 %30, 511
  br i1 %31, label %32, label %36

32:                                               ; preds = %27
  %33 = add nuw nsw i64 %30, 1
  store i64 %33, ptr %6, align 8
  %34 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %30
  store i8 32, ptr %34, align 1
  %35 = load i64, ptr %6, align 8
  br label %36

36:                                               ; preds = %22, %27, %32
  %37 = phi i64 [ %35, %32 ], [ %30, %27 ], [ %25, %22 ]
  %38 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %37
  store i8 0, ptr %38, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  %39 = load i64, ptr %6, align 8
  %40 = icmp ult i64 %39, 511
  br i1 %40, label %41, label %75

41:                                               ; preds = %36
  %42 = add nuw nsw i64 %39, 1
  store i64 %42, ptr %6, align 8
  %43 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %39
  store i8 105, ptr %43, align 1
  %44 = load i64, ptr %6, align 8
  %45 = icmp ult i64 %44, 511
  br i1 %45, label %46, label %75

46:                                               ; preds = %41
  %47 = add nuw nsw i64 %44, 1
  store i64 %47, ptr %6, align 8
  %48 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %44
  store i8 110, ptr %48, align 1
  %49 = load i64, ptr %6, align 8
  %50 = icmp ult i64 %49, 511
  br i1 %50, label %51, label %75

51:                                               ; preds = %46
  %52 = add nuw nsw i64 %49, 1
  store i64 %52, ptr %6, align 8
  %53 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %49
  store i8 112, ptr %53, align 1
  %54 = load i64, ptr %6, align 8
  %55 = icmp ult i64 %54, 511
  br i1 %55, label %56, label %75

56:                                               ; preds = %51
  %57 = add nuw nsw i64 %54, 1
  store i64 %57, ptr %6, align 8
  %58 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %54
  store i8 117, ptr %58, align 1
  %59 = load i64, ptr %6, align 8
  %60 = icmp ult i64 %59, 511
  br i1 %60, label %61, label %75

61:                                               ; preds = %56
  %62 = add nuw nsw i64 %59, 1
  store i64 %62, ptr %6, align 8
  %63 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %59
  store i8 116, ptr %63, align 1
  %64 = load i64, ptr %6, align 8
  %65 = icmp ult i64 %64, 511
  br i1 %65, label %66, label %75

66:                                               ; preds = %61
  %67 = add nuw nsw i64 %64, 1
  store i64 %67, ptr %6, align 8
  %68 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %64
  store i8 32, ptr %68, align 1
  %69 = load i64, ptr %6, align 8
  %70 = icmp ult i64 %69, 511
  br i1 %70, label %71, label %75

71:                                               ; preds = %66
  %72 = add nuw nsw i64 %69, 1
  store i64 %72, ptr %6, align 8
  %73 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %69
  store i8 39, ptr %73, align 1
  %74 = load i64, ptr %6, align 8
  br label %75

75:                                               ; preds = %71, %66, %61, %56, %51, %46, %41, %36
  %76 = phi i64 [ %74, %71 ], [ %69, %66 ], [ %64, %61 ], [ %59, %56 ], [ %54, %51 ], [ %49, %46 ], [ %44, %41 ], [ %39, %36 ]
  %77 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %76
  store i8 0, ptr %77, align 1
  %78 = load ptr, ptr %1, align 8
  %79 = load i8, ptr %78, align 1
  %80 = icmp eq i8 %79, 0
  br i1 %80, label %92, label %81

81:                                               ; preds = %75, %86
  %82 = phi i8 [ %90, %86 ], [ %79, %75 ]
  %83 = phi ptr [ %87, %86 ], [ %78, %75 ]
  %84 = load i64, ptr %6, align 8
  %85 = icmp ult i64 %84, 511
  br i1 %85, label %86, label %92

86:                                               ; preds = %81
  %87 = getelementptr inbounds i8, ptr %83, i64 1
  %88 = add nuw nsw i64 %84, 1
  store i64 %88, ptr %6, align 8
  %89 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %84
  store i8 %82, ptr %89, align 1
  %90 = load i8, ptr %87, align 1
  %91 = icmp eq i8 %90, 0
  br i1 %91, label %92, label %81, !llvm.loop !5

92:                                               ; preds = %81, %86, %75
  %93 = load i64, ptr %6, align 8
  %94 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %93
  store i8 0, ptr %94, align 1
  %95 = load i64, ptr %6, align 8
  %96 = icmp ult i64 %95, 511
  br i1 %96, label %97, label %156

97:                                               ; preds = %92
  %98 = add nuw nsw i64 %95, 1
  store i64 %98, ptr %6, align 8
  %99 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %95
  store i8 39, ptr %99, align 1
  %100 = load i64, ptr %6, align 8
  %101 = icmp ult i64 %100, 511
  br i1 %101, label %102, label %156

102:                                              ; preds = %97
  %103 = add nuw nsw i64 %100, 1
  store i64 %103, ptr %6, align 8
  %104 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %100
  store i8 32, ptr %104, align 1
  %105 = load i64, ptr %6, align 8
  %106 = icmp ult i64 %105, 511
  br i1 %106, label %107, label %156

107:                                              ; preds = %102
  %108 = add nuw nsw i64 %105, 1
  store i64 %108, ptr %6, align 8
  %109 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %105
  store i8 104, ptr %109, align 1
  %110 = load i64, ptr %6, align 8
  %111 = icmp ult i64 %110, 511
  br i1 %111, label %112, label %156

112:                                              ; preds = %107
  %113 = add nuw nsw i64 %110, 1
  store i64 %113, ptr %6, align 8
  %114 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %110
  store i8 97, ptr %114, align 1
  %115 = load i64, ptr %6, align 8
  %116 = icmp ult i64 %115, 511
  br i1 %116, label %117, label %156

117:                                              ; preds = %112
  %118 = add nuw nsw i64 %115, 1
  store i64 %118, ptr %6, align 8
  %119 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %115
  store i8 115, ptr %119, align 1
  %120 = load i64, ptr %6, align 8
  %121 = icmp ult i64 %120, 511
  br i1 %121, label %122, label %156

122:                                              ; preds = %117
  %123 = add nuw nsw i64 %120, 1
  store i64 %123, ptr %6, align 8
  %124 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %120
  store i8 32, ptr %124, align 1
  %125 = load i64, ptr %6, align 8
  %126 = icmp ult i64 %125, 511
  br i1 %126, label %127, label %156

127:                                              ; preds = %122
  %128 = add nuw nsw i64 %125, 1
  store i64 %128, ptr %6, align 8
  %129 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %125
  store i8 115, ptr %129, align 1
  %130 = load i64, ptr %6, align 8
  %131 = icmp ult i64 %130, 511
  br i1 %131, label %132, label %156

132:                                              ; preds = %127
  %133 = add nuw nsw i64 %130, 1
  store i64 %133, ptr %6, align 8
  %134 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %130
  store i8 104, ptr %134, align 1
  %135 = load i64, ptr %6, align 8
  %136 = icmp ult i64 %135, 511
  br i1 %136, label %137, label %156

137:                                              ; preds = %132
  %138 = add nuw nsw i64 %135, 1
  store i64 %138, ptr %6, align 8
  %139 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %135
  store i8 97, ptr %139, align 1
  %140 = load i64, ptr %6, align 8
  %141 = icmp ult i64 %140, 511
  br i1 %141, label %142, label %156

142:                                              ; preds = %137
  %143 = add nuw nsw i64 %140, 1
  store i64 %143, ptr %6, align 8
  %144 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %140
  store i8 112, ptr %144, align 1
  %145 = load i64, ptr %6, align 8
  %146 = icmp ult i64 %145, 511
  br i1 %146, label %147, label %156

147:                                              ; preds = %142
  %148 = add nuw nsw i64 %145, 1
  store i64 %148, ptr %6, align 8
  %149 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %145
  store i8 101, ptr %149, align 1
  %150 = load i64, ptr %6, align 8
  %151 = icmp ult i64 %150, 511
  br i1 %151, label %152, label %156

152:                                              ; preds = %147
  %153 = add nuw nsw i64 %150, 1
  store i64 %153, ptr %6, align 8
  %154 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %150
  store i8 32, ptr %154, align 1
  %155 = load i64, ptr %6, align 8
  br label %156

156:                                              ; preds = %152, %147, %142, %137, %132, %127, %122, %117, %112, %107, %102, %97, %92
  %157 = phi i64 [ %155, %152 ], [ %150, %147 ], [ %145, %142 ], [ %140, %137 ], [ %135, %132 ], [ %130, %127 ], [ %125, %122 ], [ %120, %117 ], [ %115, %112 ], [ %110, %107 ], [ %105, %102 ], [ %100, %97 ], [ %95, %92 ]
  %158 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %157
  store i8 0, ptr %158, align 1
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef %2, i64 noundef %3) #10
  br label %159

159:                                              ; preds = %164, %156
  %160 = phi i8 [ %168, %164 ], [ 32, %156 ]
  %161 = phi ptr [ %165, %164 ], [ @.str.14, %156 ]
  %162 = load i64, ptr %6, align 8
  %163 = icmp ult i64 %162, 511
  br i1 %163, label %164, label %172

164:                                              ; preds = %159
  %165 = getelementptr inbounds i8, ptr %161, i64 1
  %166 = add nuw nsw i64 %162, 1
  store i64 %166, ptr %6, align 8
  %167 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %162
  store i8 %160, ptr %167, align 1
  %168 = load i8, ptr %165, align 1
  %169 = icmp eq ptr %165, getelementptr inbounds ([22 x i8], ptr @.str.14, i64 0, i64 21)
  br i1 %169, label %170, label %159, !llvm.loop !5

170:                                              ; preds = %164
  %171 = load i64, ptr %6, align 8
  br label %172

172:                                              ; preds = %159, %170
  %173 = phi i64 [ %171, %170 ], [ %162, %159 ]
  %174 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %173
  store i8 0, ptr %174, align 1
  %175 = getelementptr inbounds %struct.model_tensor, ptr %1, i64 0, i32 4
  %176 = getelementptr inbounds %struct.model_tensor, ptr %1, i64 0, i32 2
  %177 = load i32, ptr %176, align 8
  %178 = zext i32 %177 to i64
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %175, i64 noundef %178) #10
  %179 = load ptr, ptr %0, align 8
  %180 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1
  %181 = call ptr %179(i32 noundef 2, ptr noundef nonnull %180) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %6) #9
  ret ptr %181
}

; Function Attrs: nofree nosync nounwind memory(argmem: readwrite)
define internal fastcc void @add_shape(ptr nocapture noundef %0, ptr nocapture noundef readonly %1, i64 noundef %2) unnamed_addr #6 {
  %4 = alloca [24 x i8], align 1
  %5 = load i64, ptr %0, align 8
  %6 = icmp ult i64 %5, 511
  br i1 %6, label %7, label %11

7:                                                ; preds = %3
  %8 = add nuw nsw i64 %5, 1
  store i64 %8, ptr %0, align 8
  %9 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %5
  store i8 91, ptr %9, align 1
  %10 = load i64, ptr %0, align 8
  br label %11

11:                                               ; preds = %7, %3
  %12 = phi i64 [ %10, %7 ], [ %5, %3 ]
  %13 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %12
  store i8 0, ptr %13, align 1
  %14 = icmp eq i64 %2, 0
  br i1 %14, label %19, label %15

15:                                               ; preds = %11
  %16 = getelementptr inbounds i8, ptr %4, i64 23
  %17 = add i64 %2, -1
  %18 = tail call i64 @llvm.umin.i64(i64 %17, i64 7)
  br label %38

19:                                               ; preds = %98, %11
  %20 = icmp ugt i64 %2, 8
  %21 = select i1 %20, ptr @.str.18, ptr @.str.19
  %22 = load i8, ptr %21, align 1
  %23 = icmp eq i8 %22, 0
  br i1 %23, label %35, label %24

24:                                               ; preds = %19, %29
  %25 = phi i8 [ %33, %29 ], [ %22, %19 ]
  %26 = phi ptr [ %30, %29 ], [ %21, %19 ]
  %27 = load i64, ptr %0, align 8
  %28 = icmp ult i64 %27, 511
  br i1 %28, label %29, label %35

29:                                               ; preds = %24
  %30 = getelementptr inbounds i8, ptr %26, i64 1
  %31 = add nuw nsw i64 %27, 1
  store i64 %31, ptr %0, align 8
  %32 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %27
  store i8 %25, ptr %32, align 1
  %33 = load i8, ptr %30, align 1
  %34 = icmp eq i8 %33, 0
  br i1 %34, label %35, label %24, !llvm.loop !5

35:                                               ; preds = %24, %29, %19
  %36 = load i64, ptr %0, align 8
  %37 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %36
  store i8 0, ptr %37, align 1
  ret void

38:                                               ; preds = %15, %98
  %39 = phi i64 [ 0, %15 ], [ %99, %98 ]
  %40 = icmp eq i64 %39, 0
  br i1 %40, label %56, label %41

41:                                               ; preds = %38
  %42 = load i64, ptr %0, align 8
  %43 = icmp ult i64 %42, 511
  br i1 %43, label %44, label %53

44:                                               ; preds = %41
  %45 = add nuw nsw i64 %42, 1
  store i64 %45, ptr %0, align 8
  %46 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %42
  store i8 44, ptr %46, align 1
  %47 = load i64, ptr %0, align 8
  %48 = icmp ult i64 %47, 511
  br i1 %48, label %49, label %53

49:                                               ; preds = %44
  %50 = add nuw nsw i64 %47, 1
  store i64 %50, ptr %0, align 8
  %51 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %47
  store i8 32, ptr %51, align 1
  %52 = load i64, ptr %0, align 8
  br label %53

53:                                               ; preds = %49, %44, %41
  %54 = phi i64 [ %52, %49 ], [ %47, %44 ], [ %42, %41 ]
  %55 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  br label %56

56:                                               ; preds = %53, %38
  %57 = getelementptr inbounds i64, ptr %1, i64 %39
  %58 = load i64, ptr %57, align 8
  %59 = icmp slt i64 %58, 0
  br i1 %59, label %60, label %70

60:                                               ; preds = %56
  %61 = load i64, ptr %0, align 8
  %62 = icmp ult i64 %61, 511
  br i1 %62, label %63, label %67

63:                                               ; preds = %60
  %64 = add nuw nsw i64 %61, 1
  store i64 %64, ptr %0, align 8
  %65 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %61
  store i8 63, ptr %65, align 1
  %66 = load i64, ptr %0, align 8
  br label %67

67:                                               ; preds = %63, %60
  %68 = phi i64 [ %66, %63 ], [ %61, %60 ]
  %69 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %68
  store i8 0, ptr %69, align 1
  br label %98

70:                                               ; preds = %56
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %4) #9
  store i8 0, ptr %16, align 1
  br label %71

71:                                               ; preds = %71, %70
  %72 = phi ptr [ %16, %70 ], [ %80, %71 ]
  %73 = phi i64 [ %58, %70 ], [ %75, %71 ]
  %74 = freeze i64 %73
  %75 = udiv i64 %74, 10
  %76 = mul i64 %75, 10
  %77 = sub i64 %74, %76
  %78 = trunc i64 %77 to i8
  %79 = or i8 %78, 48
  %80 = getelementptr inbounds i8, ptr %72, i64 -1
  store i8 %79, ptr %80, align 1
  %81 = icmp ult i64 %73, 10
  br i1 %81, label %82, label %71, !llvm.loop !8

82:                                               ; preds = %71, %87
  %83 = phi i8 [ %91, %87 ], [ %79, %71 ]
  %84 = phi ptr [ %88, %87 ], [ %80, %71 ]
  %85 = load i64, ptr %0, align 8
  %86 = icmp ult i64 %85, 511
  br i1 %86, label %87, label %95

87:                                               ; preds = %82
  %88 = getelementptr inbounds i8, ptr %84, i64 1
  %89 = add nuw nsw i64 %85, 1
  store i64 %89, ptr %0, align 8
  %90 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %85
  store i8 %83, ptr %90, align 1
  %91 = load i8, ptr %88, align 1
  %92 = icmp eq i8 %91, 0
  br i1 %92, label %93, label %82, !llvm.loop !5

93:                                               ; preds = %87
  %94 = load i64, ptr %0, align 8
  br label %95

95:                                               ; preds = %82, %93
  %96 = phi i64 [ %94, %93 ], [ %85, %82 ]
  %97 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %96
  store i8 0, ptr %97, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %4) #9
  br label %98

98:                                               ; preds = %67, %95
  %99 = add nuw nsw i64 %39, 1
  %100 = icmp eq i64 %39, %18
  br i1 %100, label %19, label %38, !llvm.loop !21
}

declare i64 @model_workspace_bytes(ptr noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @launch(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = alloca %struct.job, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #9
  store ptr %1, ptr %5, align 8
  %6 = getelementptr inbounds %struct.job, ptr %5, i64 0, i32 1
  store ptr %2, ptr %6, align 8
  %7 = load ptr, ptr %0, align 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.ort_api, ptr %8, i64 0, i32 30
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %12 = load ptr, ptr %11, align 8
  %13 = zext i32 %3 to i64
  %14 = call ptr %10(ptr noundef %12, ptr noundef nonnull @run_task, i64 noundef %13, i64 noundef 0, ptr noundef nonnull %5) #8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %26, label %16

16:                                               ; preds = %4
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  %18 = load ptr, ptr %17, align 8
  %19 = icmp eq ptr %18, null
  br i1 %19, label %25, label %20

20:                                               ; preds = %16
  %21 = load ptr, ptr %0, align 8
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds %struct.ort_api, ptr %22, i64 0, i32 24
  %24 = load ptr, ptr %23, align 8
  call void %24(ptr noundef nonnull %14) #8
  br label %26

25:                                               ; preds = %16
  store ptr %14, ptr %17, align 8
  br label %26

26:                                               ; preds = %4, %25, %20
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #9
  ret void
}

declare i32 @model_run(ptr noundef, ptr noundef, ptr noundef, [2 x i64], ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @run_task(ptr nocapture noundef readonly %0, i64 noundef %1) #0 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.job, ptr %0, i64 0, i32 1
  %5 = load ptr, ptr %4, align 8
  %6 = trunc i64 %1 to i32
  tail call void %3(ptr noundef %5, i32 noundef %6) #8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.abs.i64(i64, i1 immarg) #7

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #7

attributes #0 = { nounwind "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #3 = { "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #4 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nofree nosync nounwind memory(argmem: readwrite) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #7 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nobuiltin nounwind "no-builtins" }
attributes #9 = { nounwind }
attributes #10 = { nobuiltin "no-builtins" }

!llvm.module.flags = !{!0, !1, !2}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"frame-pointer", i32 1}
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.mustprogress"}
!5 = distinct !{!5, !4}
!6 = distinct !{!6, !4}
!7 = distinct !{!7, !4}
!8 = distinct !{!8, !4}
!9 = distinct !{!9, !4, !10, !11}
!10 = !{!"llvm.loop.isvectorized", i32 1}
!11 = !{!"llvm.loop.unroll.runtime.disable"}
!12 = distinct !{!12, !4}
!13 = distinct !{!13, !4}
!14 = distinct !{!14, !4, !11, !10}
!15 = distinct !{!15, !4}
!16 = distinct !{!16, !4}
!17 = distinct !{!17, !4}
!18 = distinct !{!18, !4}
!19 = distinct !{!19, !4}
!20 = distinct !{!20, !4}
!21 = distinct !{!21, !4}
